import { ToolError, messageOf } from '../../core/errors.ts';
import type { JobControl } from '../../core/jobs.ts';
import type { CallContext, LateOutcome } from '../../core/tool.ts';
import { Job, type JobEnd, type JobFacts } from './job.ts';
import { type OutputProgress, createOutputProgress } from './progress.ts';
import type { CommandListener, CommandResult } from './run-command.ts';

export interface JobStart {
  facts: JobFacts;
  /** From the moment the command starts; undefined where the call stays with it to its end. */
  waitMs: number | undefined;
  context: CallContext;
  run: (signal: AbortSignal, listener: CommandListener) => Promise<CommandResult>;
}

export interface Jobs extends JobControl {
  /**
   * Runs a command with its call: until its end, or until `waitMs` are over and it goes on as a job. Up to then
   * the call's signal ends it.
   * @throws ToolError `rate_limited` before anything runs; what `run` throws
   */
  start(start: JobStart): Promise<CommandResult | Job>;
  /** @throws ToolError `not_found` */
  find(id: string): Job;
  running(): number;
  /** Lets running jobs end, at most `graceMs`, then ends them; resolves when that is in the audit log. */
  settle(graceMs: number): Promise<void>;
}

const KEPT_MINUTES = 30;
const MOST_KEPT = 200;
/** Unread output of ended jobs, all together. */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;

/** Commands that outlive their calls. They live in this process and die with it. */
export function createJobs(mostRunning: () => number): Jobs {
  /** Calls that may become jobs have their place from the start: refusing them later would end their commands. */
  const places = new Set<Job>();
  /** By id, in the order of their start. */
  const running = new Map<string, Job>();
  /** By id, in the order of their end. */
  const ended = new Map<string, Job>();
  let stopping = false;
  /** Why a job may not go on, once the server's grace is over. */
  let over: ToolError | undefined;
  let onEmpty: (() => void) | undefined;

  function take(job: Job): void {
    if (stopping)
      throw new ToolError('cancelled', 'The server is stopping.', { hint: 'Call again in a minute.' });
    const most = mostRunning();
    if (places.size >= most) {
      throw new ToolError(
        'rate_limited',
        `${most} jobs are running, which is the most at a time (SSH_MAX_JOBS).`,
        {
          hint: 'Wait for one to end or cancel one; job "list" shows them. Without wait_seconds a command needs no job.',
          retryAfterSeconds: 5,
        },
      );
    }
    places.add(job);
  }

  function leave(job: Job): void {
    places.delete(job);
    if (places.size === 0) onEmpty?.();
  }

  function keep(job: Job): void {
    const { id: own } = job;
    running.delete(own);
    ended.set(own, job);
    setTimeout(() => ended.delete(own), KEPT_MINUTES * 60_000).unref();
    let bytes = [...ended.values()].reduce((sum, { size }) => sum + size, 0);
    for (const [id, { size }] of ended) {
      if (ended.size <= MOST_KEPT && bytes <= MOST_KEPT_BYTES) break;
      ended.delete(id);
      bytes -= size;
    }
  }

  async function follow(
    job: Job,
    result: Promise<CommandResult>,
    { lateOutcome, log }: CallContext,
  ): Promise<void> {
    const end = await result.then(
      (value) => job.succeeded(value),
      (error: unknown) => {
        if (error instanceof ToolError) return job.failed(error);
        log.error('job failed unexpectedly', { job: job.id, reason: messageOf(error) });
        return job.failed(new ToolError('internal', `Unexpected failure: ${messageOf(error)}`));
      },
    );
    keep(job);
    await lateOutcome(lateOutcomeOf(job, end));
    leave(job);
  }

  async function startOrAdopt(
    { facts, waitMs, context, run }: JobStart & { waitMs: number },
    progress: OutputProgress,
  ): Promise<CommandResult | Job> {
    const job = new Job(facts);
    take(job);
    let adopted = false;
    const endWithCall = () =>
      job.stop(context.signal.reason as ToolError, 'the call that started it was cancelled');
    if (context.signal.aborted) endWithCall();
    context.signal.addEventListener('abort', endWithCall, { once: true });
    let timer: NodeJS.Timeout | undefined;
    let wakeUp = () => {};
    const waited = new Promise<'waited'>((resolve) => {
      wakeUp = () => resolve('waited');
    });
    const result = run(job.signal, {
      onStart: () => {
        job.begin();
        timer = setTimeout(wakeUp, waitMs);
      },
      onOutput: (stream, chunk) => {
        job.add(stream, chunk);
        progress.add(stream, chunk);
      },
    });
    try {
      const first = await Promise.race([result, waited]);
      // An aborted call waits for its command to be ended.
      if (first !== 'waited' || job.signal.aborted) return await result;
      adopted = true;
      running.set(job.id, job);
      void follow(job, result, context);
      if (over) job.stop(over, 'the server stopped');
      return job;
    } finally {
      clearTimeout(timer);
      context.signal.removeEventListener('abort', endWithCall);
      if (!adopted) leave(job);
    }
  }

  return {
    async start({ facts, waitMs, context, run }) {
      const progress = createOutputProgress(context.progress);
      try {
        if (waitMs === undefined) {
          return await run(context.signal, { onOutput: (stream, chunk) => progress.add(stream, chunk) });
        }
        return await startOrAdopt({ facts, waitMs, context, run }, progress);
      } finally {
        progress.stop();
      }
    },

    find(id) {
      const job = running.get(id) ?? ended.get(id);
      if (job) return job;
      throw new ToolError('not_found', `There is no job "${id}".`, {
        hint: `Jobs end with the server, and ended ones are kept for ${KEPT_MINUTES} minutes, ${MOST_KEPT} at most; job "list" shows all.`,
      });
    },

    running: () => running.size,

    list: () =>
      [...[...running.values()].toReversed(), ...[...ended.values()].toReversed()].map((job) =>
        job.summary(),
      ),

    async cancel(id) {
      const job = running.get(id);
      if (!job) return false;
      job.stop(new ToolError('cancelled', 'The operator cancelled the job.'), 'cancelled by the operator');
      await job.ended;
      return true;
    },

    async settle(graceMs) {
      stopping = true;
      if (places.size === 0) return;
      const empty = new Promise<void>((resolve) => {
        onEmpty = resolve;
      });
      const timer = setTimeout(() => {
        over = new ToolError('cancelled', 'The server stopped and ended the job.');
        for (const job of running.values()) job.stop(over, 'the server stopped');
      }, graceMs);
      await empty;
      clearTimeout(timer);
    },
  };
}

function lateOutcomeOf(job: Job, end: JobEnd): LateOutcome {
  const errorCode = end.failure?.code ?? (end.cancelled === undefined ? undefined : 'cancelled');
  const signalled = end.signal === null ? undefined : `ended by signal ${end.signal}`;
  const message = end.cancelled ?? (end.timed_out ? 'timed out' : signalled);
  return {
    job: job.id,
    exitCode: end.exit_code,
    durationMs: end.duration_ms,
    ...(errorCode !== undefined && { errorCode }),
    ...(message !== undefined && { message }),
  };
}
