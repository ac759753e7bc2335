import type { StartedTestContainer } from 'testcontainers';
import { afterAll, beforeAll } from 'vitest';

import { NONE, rigFor, startDevice } from '../container/ssh/device.ts';
import type { Rig } from '../container/ssh/rig.ts';
import { prove, tries, whole } from './row.ts';

// Peers closed the channel and left the process: it went on behind the operator's back.

let device: StartedTestContainer;
let rig: Rig;
/** Looks at the device as root, over connections of its own. */
let watcher: Rig;

beforeAll(async () => {
  device = await startDevice(...NONE);
  rig = rigFor(device, PATIENT);
  watcher = rigFor(device, { ...PATIENT, defaultUser: 'root' });
});
afterAll(async () => {
  await Promise.all([rig.close(), watcher.close()]);
  await device.stop();
});

/** A login on a busy machine is not what is tried here. */
const PATIENT = { connectTimeoutSeconds: 100 };
/** The marker stands in each process that is to end, and in no other. */
const MARK = '86399';
const SLEEP = `sleep ${MARK}`;

/** Commands that do not want to end. Everything in them stays in the session, or has a parent that does. */
const ENDED: readonly (readonly [string, string])[] = [
  ['one process', SLEEP],
  ['in place of the shell', `exec ${SLEEP}`],
  ['deaf to every signal it can be', `trap '' TERM HUP INT PIPE QUIT; ${SLEEP}; ${SLEEP}`],
  ['a loop that is deaf', `trap '' TERM HUP INT PIPE; while :; do ${SLEEP}; done`],
  ['in the background', `${SLEEP} & ${SLEEP} & wait`],
  ['in the background, its shell gone', `${SLEEP} & exit 0`],
  ['nohup', `nohup ${SLEEP} >/dev/null 2>&1 & wait`],
  ['nohup, its shell gone', `nohup ${SLEEP} & exit 0`],
  ['forked twice', `( ( ${SLEEP} & ) & ); sleep 5`],
  ['forked three times, its shell gone', `( ( ( ${SLEEP} & ) & ) & ); ${SLEEP} & exit`],
  ['a pipe', `${SLEEP} | cat | cat`],
  ['a pipe that floods', `yes ${MARK} | cat >/dev/null`],
  ['a flood of output', `yes ${MARK}`],
  ['subshells', `( ( ( ${SLEEP}; : ); : ); : )`],
  ['a group of its own', `timeout ${MARK} ${SLEEP}`],
  ['job control', `set -m; ${SLEEP} & ${SLEEP} & wait`],
  ['a session of its own, with its parent', `sh -c 'setsid -w ${SLEEP}; :'`],
  ['stopped', `${SLEEP} & kill -STOP $!; wait`],
  ['one that stops itself', `sh -c 'kill -STOP $$; : ${MARK}'`],
  ['many', `for i in 1 2 3 4 5 6 7 8 9 10 11 12; do ${SLEEP} & done; wait`],
  ['one that begets others', `while :; do ${SLEEP} & sleep 0.2; done`],
  ['one that is replaced when it dies', `sh -c 'while :; do ${SLEEP}; done' & wait`],
  ['a substitution', `x=$(${SLEEP}); :`],
  ['waiting for a lock', `flock /tmp/lock-$$ sh -c '${SLEEP}; :'`],
  ['its output closed', `exec >/dev/null 2>&1 <&-; ${SLEEP}`],
  ['another language', `perl -e '$SIG{TERM}=$SIG{HUP}="IGNORE"; fork; fork; sleep ${MARK}'`],
];

/** What leaves the session and its parent, or belongs to another account. Published, not claimed. */
const LEFT: readonly (readonly [string, string])[] = [
  ['a daemon: a session of its own, its parent gone (setsid -f)', `setsid -f ${SLEEP}; sleep 60`],
  ['a daemon of the second kind (setsid in a subshell that ends)', `( setsid ${SLEEP} & ); sleep 60`],
  ['a process of another account (sudo, su)', `su root -c '${SLEEP}'`],
];

/** Seen with 26 timeouts in the same second on a machine with fifty processes to each processor. */
const TOO_SLOW =
  'any process, where the device admits no login within a minute and 4 s after the timeout: the answer says so after the 4 s';
/** Longer than the minute in which the product goes on ending what it could not end at once. */
const AFTERWARDS_MS = 90_000;

const USERS = ['demo', 'basher', 'root'] as const;

async function survivors(): Promise<string[]> {
  // A pattern that does not match itself.
  const pattern = `${MARK.slice(0, -1)}[${MARK.slice(-1)}]`;
  const { stdout } = await watcher.exec({ command: `ps -A -o stat=,user=,args= | grep '${pattern}'` });
  // Zombies are dead; init has not looked yet.
  return stdout.split('\n').filter((line) => line !== '' && !/^[ZX]/.test(line));
}

async function killSurvivors(): Promise<void> {
  await watcher.exec({ command: `pkill -KILL -f '${MARK.slice(0, -1)}[${MARK.slice(-1)}]'` });
}

interface Ended {
  failures: string[];
  /** The answer claims that nothing is left. */
  sure: boolean;
}

async function timeoutOf(user: string, what: string, command: string): Promise<Ended> {
  const answer = await rig.exec({ user, command: `echo begun; ${command}`, timeout_seconds: 1 });
  const late = answer.timed_out === true;
  return {
    failures: late ? [] : [`${user}, ${what}: ${answer.error?.message ?? 'ended by itself'}`],
    sure: late && answer.hint === undefined,
  };
}

/** What is left: at once where the answers were sure of it, else once the product had the time to try on. */
async function left(ended: readonly Ended[]): Promise<string[]> {
  let found = await survivors();
  const patience = AbortSignal.timeout(ended.every(({ sure }) => sure) ? 0 : AFTERWARDS_MS);
  while (found.length > 0 && !patience.aborted) found = await survivors();
  return found;
}

prove('ssh_exec', 'Nothing that a command started in its session survives its timeout', async () => {
  const cases = USERS.flatMap((user) => ENDED.map(([what, command]) => [user, what, command] as const));
  // One by one, so that a survivor is seen with its name, then many at a time.
  const chosen = whole ? cases : cases.filter((_case, at) => at % 40 === 0);
  const crowd = cases.filter((_case, at) => at % 3 === 0).slice(0, tries(26, 4));
  const failures: string[] = [];
  const all: Ended[] = [];
  for (const [user, what, command] of chosen) {
    const ended = await timeoutOf(user, what, command);
    all.push(ended);
    const found = await left([ended]);
    if (found.length > 0) failures.push(`${user}, ${what}: ${found.join('; ')}`);
    if (found.length > 0) await killSurvivors();
  }
  const together = await Promise.all(crowd.map((each) => timeoutOf(...each)));
  all.push(...together);
  failures.push(...(await left(together)).map((line) => `of many at a time: ${line}`));
  const unsure = all.filter(({ sure }) => !sure).length;
  return {
    tries: all.length,
    failures: [...failures, ...all.flatMap((ended) => ended.failures)],
    figures: `${failures.length} survivors, as ${USERS.join(', ')}; ${unsure} answers were not sure of it within 4 s, and said so`,
    missed: [...LEFT.map(([what]) => what), TOO_SLOW],
  };
});

prove(
  'ssh_exec',
  'What left its session or its account survives, as published; where seen, the answer says so',
  async () => {
    const failures: string[] = [];
    for (const [what, command] of LEFT) {
      const answer = await rig.exec({ command, timeout_seconds: 1 });
      if ((await survivors()).length === 0)
        failures.push(`${what}: does not survive, and is published as if it did`);
      if (what.includes('account') && !answer.hint?.startsWith('The command could not be ended'))
        failures.push(`${what}: the answer is silent about it`);
      await killSurvivors();
    }
    return { tries: LEFT.length, failures };
  },
);

prove(
  'ssh_exec',
  'Whatever stands in its arguments, a call runs its command and nothing beside it',
  async () => {
    const failures: string[] = [];
    let count = 0;
    const touch = 'touch /tmp/injected';
    const check = async (what: string, problem: string | undefined) => {
      count += 1;
      if (problem !== undefined) failures.push(`${what}: ${problem}`);
      const { exitCode } = await device.exec(['rm', '/tmp/injected']);
      if (exitCode === 0) failures.push(`${what}: ran something else`);
    };
    const own = rigFor(device, { ...PATIENT, defaultUser: 'basher' });
    for (const user of ODD_USERS) {
      const { error } = await own.exec({ user, command: touch });
      await check(
        `user ${JSON.stringify(user)}`,
        error?.code === 'invalid_input' ? undefined : `${error?.code}`,
      );
    }
    for (const [at, cwd] of ODD_DIRECTORIES.entries()) {
      for (const user of whole ? USERS : USERS.slice(at % 3, (at % 3) + 1)) {
        const answer = await own.exec({ user, cwd, command: 'pwd' });
        const stayed = answer.exit_code === 1 && answer.stdout === '';
        await check(`cwd ${JSON.stringify(cwd)}`, stayed ? undefined : JSON.stringify(answer));
      }
    }
    for (const stdin of ODD_INPUTS) {
      // Encoded, since control characters are taken out of what a call returns.
      const { stdout } = await own.exec({ command: 'base64 -w0', stdin });
      const same = stdout === Buffer.from(stdin).toString('base64');
      await check(`stdin ${JSON.stringify(stdin)}`, same ? undefined : stdout);
    }
    for (const fields of ODD_FIELDS) {
      const { error } = await own.exec({ command: touch, ...fields });
      await check(JSON.stringify(fields), error?.code === 'invalid_input' ? undefined : `${error?.code}`);
    }
    await own.close();
    return { tries: count, failures };
  },
);

const ODD_USERS = [
  '-oProxyCommand=touch /tmp/injected',
  '-l',
  '--',
  '',
  ' ',
  'demo ',
  'demo\n',
  'demo\nroot',
  'demo;touch /tmp/injected',
  '$(touch /tmp/injected)',
  '`touch /tmp/injected`',
  'demo\0root',
  '../root',
  '.ssh',
  'demo:style',
  'demo%h',
  "demo'",
  'r\u00f6\u00f6t',
  'a'.repeat(65),
];
const ODD_DIRECTORIES = [
  '$(touch /tmp/injected)',
  '`touch /tmp/injected`',
  '; touch /tmp/injected',
  '/nowhere; touch /tmp/injected',
  "'; touch /tmp/injected; '",
  "/nowhere' || touch /tmp/injected; '",
  '"; touch /tmp/injected; "',
  "\\'; touch /tmp/injected; \\'",
  "\\'; touch /tmp/injected #",
  '/nowhere\ntouch /tmp/injected',
  '/nowhere\r\ntouch /tmp/injected',
  '/nowhere && touch /tmp/injected',
  '/nowhere|touch /tmp/injected',
  '~/$(touch /tmp/injected)',
  "~/'; touch /tmp/injected; '",
  '~root/$(touch /tmp/injected)',
  '~;touch /tmp/injected',
  '~$(touch /tmp/injected)',
  '-P',
  '-',
  '--help',
  '$HOME',
  '*',
  '{/tmp,/etc}',
  '!!',
];
const ODD_INPUTS = [
  'touch /tmp/injected\n',
  "'\ntouch /tmp/injected\n",
  '\nEOF\ntouch /tmp/injected\n',
  '\u0004touch /tmp/injected\n',
  '\u0003\n~.\ntouch /tmp/injected\n',
  '\0\ntouch /tmp/injected',
  '$(touch /tmp/injected)',
];
/** Fields that would be options of an SSH client, were there one. */
const ODD_FIELDS: readonly Record<string, unknown>[] = [
  { env: { LD_PRELOAD: '/tmp/x.so' } },
  { options: ['-oProxyCommand=touch /tmp/injected'] },
  { port: 2222 },
  { host: '127.0.0.1' },
  { key: '/etc/passwd' },
  { shell: 'sh' },
  { command: 'true\0; touch /tmp/injected' },
  { cwd: '/tmp\0/x' },
  { cwd: '' },
  { command: '' },
  { command: ['touch', '/tmp/injected'] },
  { stdin: { text: 'x' } },
  { timeout_seconds: '1; touch /tmp/injected' },
  { device: '' },
  { device: ['web-1'] },
  { device: 'a'.repeat(256) },
];
