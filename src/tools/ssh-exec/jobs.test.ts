import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ToolError } from '../../core/errors.ts';
import { silentLog } from '../../core/log.ts';
import type { LateOutcome } from '../../core/tool.ts';
import { Job } from './job.ts';
import { type Jobs, createJobs } from './jobs.ts';
import type { CommandListener, CommandResult } from './run-command.ts';

const FACTS = { device: 'web-1', address: '100.64.0.1', user: 'demo', command: 'make' };
const RESULT: CommandResult = {
  exit_code: 0,
  signal: null,
  stdout: '',
  stderr: '',
  stdout_truncated: false,
  stderr_truncated: false,
  duration_ms: 5,
  timed_out: false,
};

let late: LateOutcome[];
let jobs: Jobs;

beforeEach(() => {
  vi.useFakeTimers();
  late = [];
  jobs = createJobs(() => 32);
});
afterEach(() => void vi.useRealTimers());

/** A command that runs until it is told to end, or until its signal is aborted. */
async function startJob(signal = new AbortController().signal) {
  let end!: (result: CommandResult) => void;
  let listener!: CommandListener;
  const started = jobs.start({
    facts: FACTS,
    waitMs: 1_000,
    context: {
      id: 'call-1',
      signal,
      dryRun: false,
      log: silentLog,
      progress: () => {},
      lateOutcome: async (facts) => void late.push(facts),
    },
    run: (stop, given) =>
      new Promise((resolve, reject) => {
        end = resolve;
        listener = given;
        stop.addEventListener('abort', () => reject(stop.reason as Error), { once: true });
        given.onStart?.();
      }),
  });
  // A refusal comes before the time has passed, and before anybody looks at it.
  started.catch(() => {});
  await vi.advanceTimersByTimeAsync(1_000);
  const job = await started;
  if (!(job instanceof Job)) throw new Error('it did not become a job');
  return { job, end, write: (text: string) => listener.onOutput?.('stdout', Buffer.from(text)) };
}

async function endedJob(output = ''): Promise<Job> {
  const { job, end, write } = await startJob();
  write(output);
  end(RESULT);
  await job.ended;
  await vi.advanceTimersByTimeAsync(0);
  return job;
}

describe('jobs', () => {
  it('are kept for half an hour after their end', async () => {
    const job = await endedJob();
    await vi.advanceTimersByTimeAsync(30 * 60_000 - 1);
    expect(jobs.find(job.id)).toBe(job);
    await vi.advanceTimersByTimeAsync(1);
    expect(() => jobs.find(job.id)).toThrow(`There is no job "${job.id}".`);
    expect(jobs.list()).toEqual([]);
  });

  it('may be started a thousand times: 200 ended ones are kept, the newest', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 1_000; index += 1) ids.push((await endedJob('done\n')).id);
    expect(new Set(ids).size).toBe(1_000);
    expect(jobs.list().map(({ id }) => id)).toEqual(ids.slice(-200).toReversed());
    expect(jobs.running()).toBe(0);
    expect(late.length).toBe(1_000);
  });

  it('keep 32 MiB of unread output at most, the newest', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 150; index += 1) ids.push((await endedJob('x'.repeat(300_000))).id);
    // 128 times 256 KiB.
    expect(jobs.list().map(({ id }) => id)).toEqual(ids.slice(-128).toReversed());
  });

  it('take their places from the start and give them back at the end', async () => {
    const running = await Promise.all(Array.from({ length: 32 }, () => startJob()));
    await expect(startJob()).rejects.toThrow('32 jobs are running, which is the most at a time');
    running[0]?.end(RESULT);
    await running[0]?.job.ended;
    await vi.advanceTimersByTimeAsync(0);
    await expect(startJob()).resolves.toBeDefined();
  });

  it('are not ended by the call that started them, once it is answered', async () => {
    const call = new AbortController();
    const { job } = await startJob(call.signal);
    call.abort(new ToolError('cancelled', 'The client cancelled the call.'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(job.end).toBeUndefined();
  });

  it('are ended by the operator, and say so', async () => {
    const { job } = await startJob();
    expect(await jobs.cancel(job.id)).toBe(true);
    expect(job.read(100)).toMatchObject({ running: false, reason: 'cancelled by the operator' });
    expect(await jobs.cancel(job.id)).toBe(false);
    expect(await jobs.cancel('nowhere')).toBe(false);
    await vi.advanceTimersByTimeAsync(0);
    expect(late).toMatchObject([{ errorCode: 'cancelled', message: 'cancelled by the operator' }]);
  });

  it('have the grace of a stopping server, and none begins in it', async () => {
    const { end } = await startJob();
    await startJob();
    let settled = false;
    const stop = jobs.settle(10_000).then(() => (settled = true));
    await expect(startJob()).rejects.toThrow('The server is stopping.');
    end(RESULT);
    await vi.advanceTimersByTimeAsync(8_999);
    expect([settled, late.length]).toEqual([false, 1]);
    await vi.advanceTimersByTimeAsync(1);
    await stop;
    expect(late.map(({ message }) => message)).toEqual([undefined, 'the server stopped']);
  });

  it('clip a long command, which is told again with each read', async () => {
    const job = new Job({ ...FACTS, command: 'x'.repeat(5_000) });
    expect(job.read(100).command).toBe(`${'x'.repeat(1_000)}…`);
    expect(job.summary().command).toBe(`${'x'.repeat(200)}…`);
  });
});
