import { strayContinuation } from './output.ts';

/** At most one message in this time. */
const PAUSE_MS = 500;
/** The gate shows the last thousand characters of a message, of lines whose secrets it has taken out. */
const MOST_BYTES = 16 * 1024;

type Stream = 'stdout' | 'stderr';

export interface OutputProgress {
  add(stream: Stream, chunk: Buffer): void;
  /** Nothing is told after this. */
  stop(): void;
}

/** Tells whole new lines of output as they come, the last of them where they come faster than may be told. */
export function createOutputProgress(tell: (message: string) => void): OutputProgress {
  const tails: Record<Stream, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function lines(stream: Stream): string {
    const tail = tails[stream];
    // A progress bar ends its lines with a carriage return.
    const end = Math.max(tail.lastIndexOf('\n'), tail.lastIndexOf('\r')) + 1;
    tails[stream] = tail.subarray(end);
    return tail.subarray(strayContinuation(tail), end).toString('utf8').replaceAll(/\r\n?/g, '\n');
  }

  function flush(): void {
    timer = undefined;
    const message = (lines('stdout') + lines('stderr')).trim();
    if (message === '') return;
    timer = setTimeout(flush, PAUSE_MS);
    tell(message);
  }

  return {
    add(stream, chunk) {
      if (stopped) return;
      tails[stream] = Buffer.concat([tails[stream], chunk.subarray(-MOST_BYTES)]).subarray(-MOST_BYTES);
      if (!timer) flush();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
