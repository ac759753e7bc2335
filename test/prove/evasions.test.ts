import type { StartedTestContainer } from 'testcontainers';
import { afterAll, beforeAll } from 'vitest';

import { decideSsh } from '../../src/tools/ssh-exec/policy.ts';
import { NONE, rigFor, startDevice } from '../container/ssh/device.ts';
import type { Rig } from '../container/ssh/rig.ts';
import { prove, tries, whole } from './row.ts';
import { honest, refusedThough } from './vectors/evasions-honest.ts';
import { ALLOWED, BLOCKED, type Evasion, blocklistEvasions, directoryEvasions } from './vectors/evasions.ts';

const BLOCKLIST = { blockedCommands: BLOCKED, allowedDirs: [], dryRun: false };
const DIRECTORIES = { blockedCommands: [], allowedDirs: [ALLOWED], dryRun: false };

const caughtOf = (classes: readonly Evasion[]) => classes.flatMap(({ caught }) => caught);
const missedOf = (classes: readonly Evasion[]) =>
  classes.flatMap(({ what, missed }) => missed.map((command) => `${what}: ${command}`));

/** The words of a row: those that were expected and came out otherwise. */
function wrong(
  commands: readonly string[],
  expected: 'refuse' | 'allow',
  decide: (command: string) => string,
): string[] {
  return commands.filter((command) => decide(command) !== expected).map((each) => `not ${expected}: ${each}`);
}

const byBlocklist = (command: string) => decideSsh({ command }, BLOCKLIST).verdict;
const byDirectories = (command: string) => decideSsh({ command, cwd: ALLOWED }, DIRECTORIES).verdict;

let device: StartedTestContainer;
let open: Rig;
let guarded: Rig;

/** Leaves a mark where it is run with both options, as `rm -rf` would leave none. */
const ZAP = `#!/bin/sh
given=
for word do case $word in --recursive) given="$given r" ;; --force) given="$given f" ;; -*) given="$given $word" ;; esac; done
case $given in *r*) case $given in *f*) touch /tmp/mark ;; esac ;; esac
`;

beforeAll(async () => {
  device = await startDevice(...NONE);
  open = rigFor(device, { blockedCommands: [], defaultUser: 'basher' });
  guarded = rigFor(device, { blockedCommands: BLOCKED, defaultUser: 'basher' });
  const install =
    'cat >/usr/local/bin/zap; printf "#!/bin/sh\\ntouch /tmp/mark\\n" >/usr/local/bin/zapfs; chmod 755 /usr/local/bin/*';
  await open.exec({ user: 'root', command: install, stdin: ZAP });
  // A fork bomb in a vector that passes must end with itself.
  await open.exec({ command: 'mkdir -p /tmp/job && printf zap >/tmp/job/script-on-the-device' });
});
afterAll(async () => {
  await Promise.all([open.close(), guarded.close()]);
  await device.stop();
});

async function marked(): Promise<boolean> {
  // As root, who may remove what either account left.
  const { stdout } = await open.exec({
    user: 'root',
    command: '[ -e /tmp/mark ] && rm /tmp/mark && echo marked',
  });
  return stdout === 'marked\n';
}

/** Whether bash, or the device's sh, runs a blocked program when told this. */
async function runs(rig: Rig, command: string): Promise<boolean> {
  for (const user of ['basher', 'demo']) {
    await rig.exec({ user, command, cwd: '/tmp', timeout_seconds: 3 });
    if (await marked()) return true;
  }
  return false;
}

const isBomb = (command: string) => /:\s*\|\s*:|bomb/.test(command);
const sample = <T>(list: readonly T[], few: number): T[] =>
  whole ? [...list] : list.filter((_item, at) => at % Math.ceil(list.length / few) === 0);

prove(
  'ssh_exec',
  'The blocklist sees through the spellings of a command that are listed as caught',
  async () => {
    const caught = caughtOf(blocklistEvasions);
    const missed = blocklistEvasions.flatMap((each) => each.missed);
    return {
      tries: caught.length + missed.length,
      failures: [...wrong(caught, 'refuse', byBlocklist), ...wrong(missed, 'allow', byBlocklist)],
      figures: `${caught.length}/${caught.length + missed.length} caught`,
      missed: missedOf(blocklistEvasions),
    };
  },
);

prove('ssh_exec', 'What the blocklist refuses does not run on the device', async () => {
  const commands = sample(
    caughtOf(blocklistEvasions).filter((each) => !isBomb(each)),
    16,
  );
  const failures: string[] = [];
  let connections = 0;
  let real = 0;
  for (const command of commands) {
    const before = guarded.connections();
    if (await runs(guarded, command)) failures.push(`ran: ${command}`);
    connections += guarded.connections() - before;
    if (await runs(open, command)) real += 1;
  }
  if (connections > 0) failures.push(`${connections} connections for refused commands`);
  return {
    tries: commands.length,
    failures,
    figures: `without the list ${real} of these ${commands.length} run it on a plain Debian; 0 connections were made`,
  };
});

prove(
  'ssh_exec',
  'The misses that are published do run: the account on the device is the boundary',
  async () => {
    const all = blocklistEvasions.flatMap((each) => each.missed).filter((each) => !isBomb(each));
    const commands = sample(all, 10);
    let ran = 0;
    for (const command of commands) if (await runs(guarded, command)) ran += 1;
    return {
      tries: commands.length,
      // A list of misses in which nothing runs would be a list of excuses.
      failures: ran * 2 < commands.length ? [`only ${ran} of ${commands.length} run`] : [],
      figures: `${ran} of ${commands.length} run it on a plain Debian, past the list`,
    };
  },
);

prove('ssh_exec', 'The directory list sees through the ways out that are listed as caught', async () => {
  const caught = caughtOf(directoryEvasions);
  const missed = directoryEvasions.flatMap((each) => each.missed);
  return {
    tries: caught.length + missed.length,
    failures: [...wrong(caught, 'refuse', byDirectories), ...wrong(missed, 'allow', byDirectories)],
    figures: `${caught.length}/${caught.length + missed.length} caught`,
    missed: missedOf(directoryEvasions),
  };
});

prove('ssh_exec', 'What the directory list refuses never reaches the device', async () => {
  const confined = rigFor(device, { blockedCommands: [], allowedDirs: [ALLOWED] });
  const failures: string[] = [];
  const commands = sample(caughtOf(directoryEvasions), tries(1_000, 60));
  for (const command of commands) {
    const { blocked, reason } = (await confined.exec({ command, cwd: ALLOWED })) as unknown as Refusal;
    if (blocked !== true || reason !== 'Path not in allowed directories') failures.push(command);
  }
  if (confined.connections() > 0) failures.push(`${confined.connections()} connections`);
  await confined.close();
  return { tries: commands.length, failures, figures: '0 connections' };
});

interface Refusal {
  blocked?: boolean;
  reason?: string;
}

prove('ssh_exec', 'Everyday commands are refused by neither list', async () => ({
  tries: honest.length * 2,
  failures: [...wrong(honest, 'allow', byBlocklist), ...wrong(honest, 'allow', byDirectories)],
}));

prove(
  'ssh_exec',
  'Harmless commands that the directory list refuses all the same are published',
  async () => ({
    tries: refusedThough.length,
    failures: [
      ...wrong(refusedThough, 'refuse', byDirectories),
      ...wrong(refusedThough, 'allow', byBlocklist),
    ],
    missed: [...refusedThough],
  }),
);
