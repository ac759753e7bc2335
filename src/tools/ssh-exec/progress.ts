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

interface Tail {
  readonly bytes: Buffer;
  length: number;
}

/** Tells whole new lines of output as they come, the last of them where they come faster than may be told. */
export function createOutputProgress(tell: (message: string) => void): OutputProgress {
  const tails: Partial<Record<Stream, Tail>> = {};
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  /** Adds to what is kept of a stream, in place: a command may write gigabytes. */
  function keep(stream: Stream, chunk: Buffer): void {
    const tail = (tails[stream] ??= { bytes: Buffer.allocUnsafe(MOST_BYTES), length: 0 });
    const tooMany = Math.max(0, tail.length + chunk.length - MOST_BYTES);
    tail.bytes.copyWithin(0, tooMany, tail.length);
    tail.length = Math.max(0, tail.length - tooMany);
    tail.length += chunk.copy(tail.bytes, tail.length);
  }

  function lines(stream: Stream): string {
    const tail = tails[stream];
    if (!tail) return '';
    const bytes = tail.bytes.subarray(0, tail.length);
    const end = afterLastLine(bytes);
    const text = bytes.toString('utf8', strayContinuation(bytes), end);
    tail.length = bytes.copy(tail.bytes, 0, end);
    return text.replaceAll(/\r\n?/g, '\n');
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
      const kept = chunk.subarray(-MOST_BYTES);
      keep(stream, kept);
      if (!timer && afterLastLine(kept) > 0) flush();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Where the last whole line ends. A progress bar ends its lines with a carriage return. */
function afterLastLine(bytes: Buffer): number {
  return Math.max(bytes.lastIndexOf(LINE_FEED), bytes.lastIndexOf(CARRIAGE_RETURN)) + 1;
}
