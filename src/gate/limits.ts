import { ToolError } from '../core/errors.ts';

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

export interface CallRegister {
  /** @throws ToolError `rate_limited` when as many calls as allowed are under way, `cancelled` while stopping */
  enter(): { stop: AbortController; leave: () => void };
  running(): number;
  settle(graceMs: number): Promise<void>;
}

/** Knows the calls under way. Beyond `most` a call is refused rather than queued without bound. */
export function createCallRegister(most: number): CallRegister {
  const running = new Set<AbortController>();
  let stopping = false;
  let onEmpty: (() => void) | undefined;

  return {
    enter() {
      if (stopping)
        throw new ToolError('cancelled', 'The server is stopping.', { hint: 'Call again in a minute.' });
      if (running.size >= most) {
        throw new ToolError('rate_limited', `${most} calls are under way, which is the most at a time.`, {
          hint: 'Wait for one of them to end.',
          retryAfterSeconds: 1,
        });
      }
      const stop = new AbortController();
      running.add(stop);
      return {
        stop,
        leave: () => {
          running.delete(stop);
          if (running.size === 0) onEmpty?.();
        },
      };
    },

    running: () => running.size,

    async settle(graceMs) {
      stopping = true;
      if (running.size === 0) return;
      const empty = new Promise<void>((resolve) => {
        onEmpty = resolve;
      });
      const timer = setTimeout(() => {
        for (const call of running)
          call.abort(new ToolError('cancelled', 'The server stopped and ended the call.'));
      }, graceMs);
      await empty;
      clearTimeout(timer);
    },
  };
}
