import type { StartedTestContainer } from 'testcontainers';
import { afterAll, beforeAll } from 'vitest';

import { NONE, pause, rigFor, startDevice, unpause } from '../container/ssh/device.ts';
import { type Rig, createRig, until } from '../container/ssh/rig.ts';
import { prove, tries } from './row.ts';
import { type Cut, wireTo } from './ssh-wire.ts';

let device: StartedTestContainer;
/** Looks at the device, over connections that nobody cuts. */
let watcher: Rig;

beforeAll(async () => {
  device = await startDevice(...NONE);
  watcher = rigFor(device, PATIENT);
});
afterAll(async () => {
  await watcher.close();
  await device.stop();
});

/** More than the eight to ten seconds after which silence counts as death, on a machine that is busy. */
const BOUND_MS = 25_000;
/** A login on a busy machine is not what is tried here. */
const PATIENT = { connectTimeoutSeconds: 100 };
const LOST = /^The connection to web-1 \(.*\) was lost mid-command; its outcome is unknown\.$/;
let marker = 600_000;

interface Outcome {
  failure: string | undefined;
  ms: number;
}

/** Has a command running, cuts its connection, and tells how long the error took and whether the next call works. */
async function cutOnce(what: string, rig: Rig, cut: () => Promise<void> | void): Promise<Outcome> {
  marker += 1;
  const sleep = `sleep ${marker}`;
  // Half of them are cut while output flows.
  const flood = marker % 2 === 0 ? '' : 'yes & ';
  const call = rig.exec({ command: `echo begun; ${flood}${sleep}`, timeout_seconds: 300 });
  await until(
    () => watcher.exec({ command: `pgrep -x -f '${sleep}'` }),
    ({ stdout }) => stdout !== '',
  );
  const start = performance.now();
  await cut();
  const { isError, error } = await call;
  const ms = Math.round(performance.now() - start);
  await watcher.exec({ command: `pkill -x -f '${sleep}'; pkill -x yes` });
  if (!isError || error?.code !== 'ssh_unreachable' || !LOST.test(error.message))
    return { failure: `${what}: ${JSON.stringify(error)}`, ms };
  return { failure: ms > BOUND_MS ? `${what}: the error took ${ms} ms` : undefined, ms };
}

async function next(what: string, rig: Rig): Promise<string[]> {
  const { stdout } = await rig.exec({ command: 'echo again' });
  return stdout === 'again\n' ? [] : [`${what}: the next call does not work`];
}

async function cutWires(how: Cut, times: number): Promise<Outcome[]> {
  const wire = await wireTo(device.getHost(), device.getMappedPort(22));
  const rig = createRig('127.0.0.1', wire.port, PATIENT);
  const outcomes: Outcome[] = [];
  for (let time = 0; time < times; time += 1) {
    const outcome = await cutOnce(how, rig, () => wire.cut(how));
    outcomes.push(outcome, ...(await next(how, rig)).map((failure) => ({ failure, ms: 0 })));
  }
  await rig.close();
  await wire.close();
  return outcomes;
}

/** Kills the process on the device that serves the call, or the device's every process at once. */
async function cutAtDevice(times: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const rig = rigFor(device, { ...PATIENT, defaultUser: 'basher' });
  for (let time = 0; time < times; time += 1) {
    const kill = async () => {
      await watcher.exec({ user: 'root', command: "pkill -KILL -f 'sshd-session: basher'" });
    };
    outcomes.push(await cutOnce('session killed', rig, kill));
    outcomes.push(...(await next('session killed', rig)).map((failure) => ({ failure, ms: 0 })));
  }
  await rig.close();
  return outcomes;
}

async function freeze(times: number): Promise<Outcome[]> {
  const victim = await startDevice(...NONE);
  const rig = rigFor(victim, PATIENT);
  const outcomes: Outcome[] = [];
  for (let time = 0; time < times; time += 1) {
    const call = rig.exec({ command: 'echo begun; sleep 700001', timeout_seconds: 300 });
    await until(
      () => victim.exec(['pgrep', '-f', '^sleep 700001']),
      ({ output }) => output !== '',
    );
    const start = performance.now();
    await pause(victim);
    const { error } = await call;
    const ms = Math.round(performance.now() - start);
    await unpause(victim);
    await victim.exec(['pkill', '-f', '^sleep 700001']);
    const failure =
      error?.code !== 'ssh_unreachable' || !LOST.test(error.message) || ms > BOUND_MS
        ? `paused: ${JSON.stringify(error)} after ${ms} ms`
        : undefined;
    outcomes.push({ failure, ms });
    outcomes.push(...(await next('paused', rig)).map((each) => ({ failure: each, ms: 0 })));
  }
  await rig.close();
  await victim.stop();
  return outcomes;
}

prove(
  'ssh_exec',
  'A device that is cut off mid-command is a clear error, and the next call works',
  async () => {
    // Silence takes ten seconds to notice; the container tests have one such case.
    const silent = tries(8, 0);
    const loud = [
      ...(await cutWires('reset', tries(24, 2))),
      ...(await cutWires('end', tries(22, 1))),
      ...(await cutWires('corrupt', tries(18, 1))),
      ...(await cutAtDevice(tries(24, 1))),
    ];
    // Each of these waits for the silence to be noticed, so they go at once.
    const silently = await Promise.all([
      ...Array.from({ length: silent }, () => cutWires('silence', 1)),
      ...(silent > 0 ? [freeze(4)] : []),
    ]);
    const quiet = silently.flat();
    const outcomes = [...loud, ...quiet];
    const slowest = (list: readonly Outcome[]) => Math.max(0, ...list.map(({ ms }) => ms));
    return {
      tries: tries(100, 5),
      failures: outcomes.flatMap(({ failure }) => failure ?? []),
      figures: `slowest error after a broken connection ${slowest(loud)} ms, after silence ${slowest(quiet)} ms`,
    };
  },
);

prove('ssh_exec', 'Dry-run connects nowhere and asks nobody, whatever the call says', async () => {
  const wire = await wireTo(device.getHost(), device.getMappedPort(22));
  const always = createRig('127.0.0.1', wire.port, { dryRun: true });
  const sometimes = createRig('127.0.0.1', wire.port);
  const count = tries(500, 100);
  const answers = await Promise.all(
    Array.from({ length: count }, (_, at) => {
      const args = { command: `touch /tmp/dry-${at}`, stdin: 'x', cwd: '/tmp', wait_seconds: at % 3 };
      if (at % 3 === 0) return sometimes.exec({ ...args, dry_run: true });
      return always.exec({ ...args, ...(at % 3 === 1 && { dry_run: false }) });
    }),
  );
  const dry = answers.filter((answer) => (answer as { dry_run?: boolean }).dry_run === true).length;
  const { stdout } = await watcher.exec({ command: 'ls /tmp' });
  await Promise.all([always.close(), sometimes.close(), wire.close()]);
  return {
    tries: count,
    failures: [
      ...(dry === count ? [] : [`${count - dry} were not dry runs`]),
      ...(wire.connections() === 0 ? [] : [`${wire.connections()} connections`]),
      ...(stdout.includes('dry-') ? [`on the device: ${stdout}`] : []),
    ],
    figures: '0 connections',
  };
});

prove('ssh_exec', 'Fifty calls at a time all come through, each with its own output', async () => {
  const rounds = tries(10, 1);
  const failures: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => watcher.exec({ command: `cat; echo ${at}`, stdin: `${round} ` })),
    );
    for (const [at, { stdout, error }] of answers.entries())
      if (stdout !== `${round} ${at}\n`) failures.push(`call ${at}: ${stdout} ${error?.message ?? ''}`);
  }
  return { tries: rounds * 50, failures, figures: `${watcher.connections()} connections` };
});
