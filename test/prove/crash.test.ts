import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

import { deriveKeys } from '../../src/audit/chain.ts';
import { verifyAudit } from '../../src/audit/verify.ts';
import { SECRET } from '../support/server.ts';
import { call, container, docker, inside, secureFetch, stack } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { STRACE, orderOf } from './lib/crash-trace.ts';
import { missing, parseRecords, startCrashWorld } from './lib/crash-world.ts';
import { prove, tries } from './row.ts';

// "Audit after run" loses what a crash interrupts, a log that buffers loses what it had acknowledged, and one that
// does not mend its end is unreadable from there on.

const CALLERS = 8;
const [tracer = '', ...tracing] = STRACE;
// It may be missing, and in some sandboxes it may not trace.
const traceable = spawnSync(tracer, ['-o', '/dev/null', 'true']).status === 0;

prove('audit', 'kill -9 of the server at any moment loses no record of an answered call', async () => {
  const world = await startCrashWorld();
  const keys = deriveKeys([SECRET]);
  const answered = new Set<string>();
  const failures: string[] = [];
  const rounds = tries(100, 2);
  let calls = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { child, ready, ended } = world.start();
    // Some are killed while they still start, and mend what the one before left.
    if (round % 5 !== 1) {
      await ready;
      const { first } = await verifyAudit(world.auditPath, keys);
      if (first) failures.push(`round ${round}, after the start: ${first.kind}, ${first.detail}`);
    }
    const caller = async (who: number) => {
      for (let turn = who; child.exitCode === null && child.signalCode === null; turn += 1) {
        const mark = `mark-${round}-${who}-${turn}`;
        calls += 1;
        if (await world.call(mark, turn)) answered.add(mark);
      }
    };
    const calling = Array.from({ length: CALLERS }, (_, who) => caller(who));
    // The moment of the kill is what is tried, not a wait for something.
    await pause(randomInt(tries(0, 700), 1_500));
    child.kill('SIGKILL');
    await ended;
    await Promise.all(calling);
    const { first } = await verifyAudit(world.auditPath, keys);
    // Only the end can be unfinished; the next start mends it.
    if (first && first.kind !== 'torn') failures.push(`round ${round}: ${first.kind}, ${first.detail}`);
  }
  const last = world.start();
  await last.ready;
  last.child.kill('SIGTERM');
  await last.ended;
  const answer = await verifyAudit(world.auditPath, keys);
  if (!answer.ok) failures.push(`at the end: ${answer.first?.kind ?? 'not verified'}`);
  const { records, unparsable } = world.records();
  if (unparsable > 0) failures.push(`${unparsable} lines that no parser reads`);
  failures.push(...missing(records, answered, world.acted));
  await world.close();
  const figures = `${calls} calls, ${answered.size} answered, ${world.acted.size} seen outside, ${records.length} records in ${answer.files} files${traceable ? '' : '; no strace, so the order of flushes was not tried'}`;
  return { tries: rounds, failures, figures };
});

// A kill leaves what the kernel has: only the order of system calls shows whether a power cut would, too.
if (traceable) {
  prove('audit', 'An intent is flushed to disk before anything of its call leaves by a socket', async () => {
    const world = await startCrashWorld();
    const trace = `${world.auditPath}.trace`;
    const { child, ready, ended } = world.start(tracer, ...tracing, '-o', trace);
    await ready;
    const marks: string[] = [];
    const each = tries(50, 5);
    const caller = async (who: number) => {
      for (let turn = 0; turn < each; turn += 1) {
        const mark = `mark-traced-${who}-${turn}`;
        // Its kinds 0 and 1: the site is asked by the mark, and the answer of the device's command holds it.
        if (await world.call(mark, turn % 2)) marks.push(mark);
      }
    };
    await Promise.all(Array.from({ length: 4 }, (_, who) => caller(who)));
    for (const pid of childrenOf(child.pid)) process.kill(pid, 'SIGTERM');
    await ended;
    const { failures, looked, ...rest } = orderOf(
      readFileSync(trace, 'utf8'),
      world.auditPath,
      marks,
      world.sshPort,
    );
    await world.close();
    if (marks.length !== each * 4) failures.push(`${each * 4 - marks.length} calls were not answered`);
    // Requests, answers and a connection: fewer than that, and the trace was not understood.
    if (looked < marks.length || rest.connects === 0) failures.push(`only ${looked} departures were seen`);
    const figures = `${marks.length} calls, ${rest.flushes} flushes`;
    return { tries: looked, failures, figures };
  });
}

/** strace's one child is the server, which a signal to strace itself would not end in order. */
const childrenOf = (pid = 0): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

const LOGS = 'cat /data/audit/service-audit.log.0* /data/audit/service-audit.log 2>/dev/null || true';
const SERVICE = '10001';

prove('audit', 'A killed server in its container is back by itself, its log whole', async () => {
  const answered = new Set<string>();
  const failures: string[] = [];
  const rounds = tries(10, 1);
  for (let round = 0; round < rounds; round += 1) {
    const pid = await serverPid();
    const killed = new AbortController();
    const caller = async (who: number) => {
      for (let turn = 0; !killed.signal.aborted; turn += 1) {
        const mark = `mark-stack-${pid}-${round}-${who}-${turn}`;
        const answer = await oneOf(mark, turn + who).catch(() => undefined);
        if (answer) answered.add(mark);
      }
    };
    const calling = Array.from({ length: CALLERS }, (_, who) => caller(who));
    await pause(randomInt(500, 3_000));
    const before = await restarts();
    // From inside: the engine takes a `docker kill` for its owner's wish that the container stays down.
    await inside('server', `kill -9 ${pid}`);
    killed.abort();
    await Promise.all(calling);
    await until('the server is back', async () => (await restarts()) > before && (await answers()), 180);
    const verified = await docker('exec', container('server'), 'remote-tool-server', 'audit', 'verify').catch(
      (error: { stdout?: string; stderr?: string }) => `failed: ${error.stdout} ${error.stderr}`,
    );
    if (verified.startsWith('failed')) failures.push(`round ${round}: ${verified}`);
  }
  const { records, unparsable } = parseRecords(await inside('server', LOGS, SERVICE));
  if (unparsable > 0) failures.push(`${unparsable} lines that no parser reads`);
  failures.push(...missing(records, answered, new Set()));
  return { tries: rounds, failures, figures: `${answered.size} calls answered` };
});

const serverPid = async () =>
  (await inside('server', 'pidof node | tr " " "\\n" | sort -n | head -1')).trim();

const answers = async () => (await secureFetch(`${stack.base}/health?token=${stack.secret}`)).ok;

const restarts = async () =>
  Number(await docker('inspect', '--format', '{{.RestartCount}}', container('server')));

function oneOf(mark: string, turn: number) {
  const kinds: [string, Record<string, unknown>][] = [
    ['ssh_exec', { device: 'web-1', command: `echo ${mark}` }],
    ['fetch_external', { url: `http://demo-site/?${mark}` }],
    ['mesh_status', { tag: mark }],
    ['snippet_kb', { action: 'search', query: mark }],
    ['ssh_exec', { device: 'db-1', command: `echo ${mark}` }],
    ['ssh_exec', { device: 'web-1', command: `mkfs ${mark}` }],
  ];
  return call(...(kinds[turn % kinds.length] as (typeof kinds)[number]));
}
