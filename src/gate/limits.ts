import { ToolError } from '../core/errors.ts';

/** How long a tool may take to clean up after its call was aborted, before the gate answers without it. */
const CLEANUP_MS = 5_000;

/**
 * Runs `work` with a deadline and the client's own signal. The signal given to `work` is aborted by either;
 * `work` then has five seconds to end what it started. The answer comes even when it doesn't.
 * @throws ToolError `timeout` or `cancelled`, unless `work` fails with an error of its own first
 */
export async function withDeadline<T>(
  deadlineMs: number,
  client: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const onDisconnect = () => controller.abort(new ToolError('cancelled', 'The client cancelled the call.'));
  const timer = setTimeout(
    () =>
      controller.abort(
        new ToolError('timeout', `The call took longer than ${deadlineMs / 1000} s and was ended.`),
      ),
    deadlineMs,
  );
  if (client.aborted) onDisconnect();
  else client.addEventListener('abort', onDisconnect, { once: true });

  let cleanup: NodeJS.Timeout | undefined;
  const abandoned = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => {
      cleanup = setTimeout(() => reject(controller.signal.reason as Error), CLEANUP_MS);
    });
  });
  try {
    return await Promise.race([work(controller.signal), abandoned]);
  } finally {
    clearTimeout(timer);
    clearTimeout(cleanup);
    client.removeEventListener('abort', onDisconnect);
  }
}

/** Counts calls under way; beyond `most` a call is refused rather than queued without bound. */
export function createConcurrencyLimit(most: number): { enter: () => () => void } {
  let running = 0;
  return {
    enter: () => {
      if (running >= most) {
        throw new ToolError('rate_limited', `${most} calls are under way, which is the most at a time.`, {
          hint: 'Wait for one of them to end.',
          retryAfterSeconds: 1,
        });
      }
      running += 1;
      return () => {
        running -= 1;
      };
    },
  };
}
