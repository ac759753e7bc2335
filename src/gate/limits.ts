import { ToolError } from '../core/errors.ts';
import { type Bucket, createBucket } from './rate.ts';

/** How long a tool may take to clean up after its call was aborted, before the gate answers without it. */
const CLEANUP_MS = 5_000;

/**
 * Runs `work` with a deadline and the signals that may end it early (the client's, the server's stop). The signal
 * given to `work` is aborted by any of them; `work` then has five seconds to end what it started. The answer
 * comes even when it doesn't.
 * @throws ToolError `timeout` or `cancelled`, unless `work` fails with an error of its own first
 */
export async function withDeadline<T>(
  deadlineMs: number,
  enders: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const end = ({ target }: { target: unknown }) => {
    const { reason } = target as AbortSignal;
    controller.abort(
      reason instanceof ToolError ? reason : new ToolError('cancelled', 'The client cancelled the call.'),
    );
  };
  const late = new ToolError('timeout', `The call took longer than ${deadlineMs / 1000} s and was ended.`);
  const timer = setTimeout(() => controller.abort(late), deadlineMs);
  for (const ender of enders) {
    if (ender.aborted) end({ target: ender });
    else ender.addEventListener('abort', end, { once: true });
  }

  let cleanup: NodeJS.Timeout | undefined;
  const abandoned = new Promise<never>((_, reject) => {
    const giveUp = () => {
      cleanup = setTimeout(() => reject(controller.signal.reason as Error), CLEANUP_MS);
    };
    if (controller.signal.aborted) giveUp();
    else controller.signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([work(controller.signal), abandoned]);
  } finally {
    clearTimeout(timer);
    clearTimeout(cleanup);
    for (const ender of enders) ender.removeEventListener('abort', end);
  }
}

/** The most there may be; 0, and a tool that is not named, is no limit. */
export interface Limits {
  /** Calls that may run at a time. */
  readonly concurrent: number;
  readonly concurrentByTool: Readonly<Record<string, number>>;
  /** Calls a minute that become actions. */
  readonly perMinute: number;
  readonly perMinuteByTool: Readonly<Record<string, number>>;
}

/** A call's place among those under way. */
export interface Place {
  /** Aborts the call. */
  stop: AbortController;
  leave: () => void;
}

/** A place, or why there is none: `rule` for the record, `error` for the client. */
export type Admission = { place: Place } | { rule: string; error: ToolError };

export interface CallRegister {
  /**
   * Lets a call in, or refuses it: `rate_limited` with the wait beyond a limit, `cancelled` while stopping. A refused
   * call uses up nothing.
   * @param acts whether it counts toward the rates; a dry run does not
   */
  enter(tool: string, acts: boolean): Admission;
  running(): number;
  settle(graceMs: number): Promise<void>;
}

/** Within this time one of many short calls will have ended; how long a call takes, nobody knows beforehand. */
const PLACE_WAIT_SECONDS = 1;

/**
 * Knows the calls under way, and how many there were lately. Beyond a limit a call is refused rather than queued
 * without bound.
 * @param limits read afresh for each call: a reload changes them in place
 * @param now a clock in milliseconds that never goes back
 */
export function createCallRegister(limits: Limits, now = () => performance.now()): CallRegister {
  const running = new Set<Place>();
  const byTool = new Map<string, number>();
  const rate = createBucket(() => limits.perMinute, now);
  const rates = new Map<string, Bucket>();
  let stopping = false;
  let onEmpty: (() => void) | undefined;

  function rateOf(tool: string): Bucket {
    let bucket = rates.get(tool);
    if (!bucket) rates.set(tool, (bucket = createBucket(() => limits.perMinuteByTool[tool] ?? 0, now)));
    return bucket;
  }

  /** The limit that a further call of the tool would pass; undefined where there is none. */
  function passed(tool: string, acts: boolean): Admission | undefined {
    const most = limits.concurrentByTool[tool] ?? 0;
    if (most > 0 && (byTool.get(tool) ?? 0) >= most) return crowded('tool', `${most} calls of ${tool}`);
    if (limits.concurrent > 0 && running.size >= limits.concurrent) {
      return crowded('service', `${limits.concurrent} calls`);
    }
    if (!acts) return undefined;
    const wait = rateOf(tool).waitMs();
    if (wait > 0) return tooFast('tool', `${limits.perMinuteByTool[tool]} calls of ${tool}`, wait);
    const waitForAll = rate.waitMs();
    if (waitForAll > 0) return tooFast('service', `${limits.perMinute} calls`, waitForAll);
    return undefined;
  }

  return {
    enter(tool, acts) {
      if (stopping) {
        const hint = 'Call again in a minute.';
        return { rule: 'stopping', error: new ToolError('cancelled', 'The server is stopping.', { hint }) };
      }
      const refusal = passed(tool, acts);
      if (refusal) return refusal;
      if (acts) {
        rateOf(tool).take();
        rate.take();
      }
      const place: Place = {
        stop: new AbortController(),
        leave: () => {
          if (!running.delete(place)) return;
          byTool.set(tool, (byTool.get(tool) ?? 1) - 1);
          if (running.size === 0) onEmpty?.();
        },
      };
      running.add(place);
      byTool.set(tool, (byTool.get(tool) ?? 0) + 1);
      return { place };
    },

    running: () => running.size,

    async settle(graceMs) {
      stopping = true;
      if (running.size === 0) return;
      const empty = new Promise<void>((resolve) => {
        onEmpty = resolve;
      });
      const timer = setTimeout(() => {
        for (const { stop } of running)
          stop.abort(new ToolError('cancelled', 'The server stopped and ended the call.'));
      }, graceMs);
      await empty;
      clearTimeout(timer);
    },
  };
}

function crowded(whose: 'tool' | 'service', most: string): Admission {
  const error = new ToolError('rate_limited', `${most} are under way, which is the most at a time.`, {
    hint: 'Wait for one of them to end.',
    retryAfterSeconds: PLACE_WAIT_SECONDS,
  });
  return { rule: `limit:${whose}-concurrency`, error };
}

function tooFast(whose: 'tool' | 'service', most: string, waitMs: number): Admission {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const error = new ToolError('rate_limited', `More than ${most} a minute, which is the most.`, {
    hint: `Call again in ${retryAfterSeconds} s, and less often.`,
    retryAfterSeconds,
  });
  return { rule: `limit:${whose}-rate`, error };
}
