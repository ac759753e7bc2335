import { Worker } from 'node:worker_threads';

import { ToolError } from '../../core/errors.ts';
import { orAborted } from '../../net/or-aborted.ts';
import type { MarkdownJob } from './markdown-worker.ts';

/** Turns HTML into markdown, one page at a time. */
export interface MarkdownConverter {
  /**
   * @throws ToolError `too_large` for a page that takes more than 10 s, more than 256 MB or more nesting than a
   *   stack holds; the reason of `signal` when that is aborted
   */
  convert(job: MarkdownJob, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/** HTML beyond this is not converted; a megabyte takes about two seconds. */
export const MOST_HTML = 2 * 1024 * 1024;
const LONGEST_MS = 10_000;
const MOST_MEMORY_MB = 256;

const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? './markdown-worker.ts' : './markdown-worker.js',
  import.meta.url,
);

/**
 * The conversion runs in a thread of its own: a page written for the purpose keeps any converter busy for minutes,
 * and in the main thread that would stop the whole server. The thread is started by the first page and kept.
 */
export function createMarkdownConverter(longestMs = LONGEST_MS): MarkdownConverter {
  let worker: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function start(): Worker {
    const started = new Worker(WORKER, {
      // Nothing of the environment: it holds every secret of the server.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
    });
    // Waiting for pages must not keep the process alive.
    started.unref();
    started.once('exit', () => {
      if (worker === started) worker = undefined;
    });
    return started;
  }

  async function run(job: MarkdownJob, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    worker ??= start();
    const current = worker;
    const { promise, resolve, reject } = deferred<string>();
    const tooLarge = (why: string) =>
      new ToolError('too_large', `The page cannot be turned into markdown: ${why}.`, {
        hint: 'Ask for the page with format text.',
      });
    const stop = () => reject(signal.reason as Error);
    const timer = setTimeout(() => reject(tooLarge(`it takes more than ${longestMs / 1000} s`)), longestMs);
    const onMessage = ({ markdown }: { markdown: string | undefined }) => {
      if (markdown === undefined) reject(tooLarge('its elements are nested too deep'));
      else resolve(markdown);
    };
    const onError = () => reject(tooLarge(`it takes more than ${MOST_MEMORY_MB} MB of memory`));
    signal.addEventListener('abort', stop, { once: true });
    current.once('message', onMessage);
    current.once('error', onError);
    let isDone = false;
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      current.postMessage(job);
      const markdown = await promise;
      isDone = true;
      return markdown;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      current.off('message', onMessage);
      // The listener for errors stays with a thread that is ended: one more error must not end the process.
      if (isDone) current.off('error', onError);
      else {
        worker = undefined;
        await current.terminate();
      }
    }
  }

  return {
    convert(job, signal) {
      const result = last.then(() => run(job, signal));
      last = result.catch(() => {});
      return orAborted(result, signal);
    },
    async close() {
      await worker?.terminate();
    },
  };
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: Error) => void } {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
