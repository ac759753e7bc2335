import { strayContinuation, unfinishedCharacter } from './output.ts';

/** What one stream of a job wrote and nobody has read yet. Each byte is given out once, in order. */
export interface OutputLog {
  add(chunk: Buffer): void;
  /**
   * The next text, at most `mostBytes` of it and whole characters only; the rest stays for the next time.
   * @param final nothing will follow, so a character that is not whole is given out as U+FFFD
   */
  take(mostBytes: number, final: boolean): { text: string; lost: number; left: number };
  /** Whether `take` would give out anything. */
  ready(final: boolean): boolean;
  /** Bytes of memory held. */
  readonly size: number;
}

/** No character of UTF-8 is longer, so a read of this many bytes always gets on. */
const LONGEST_CHARACTER = 4;
const SMALLEST_RING = 4 * 1024;

/** Keeps the newest `limit` bytes that were not read; how much was lost before them is told with the next text. */
export function createOutputLog(limit: number): OutputLog {
  let ring = Buffer.alloc(0);
  let start = 0;
  let length = 0;
  let lost = 0;

  function peek(bytes: number): Buffer {
    const first = ring.subarray(start, Math.min(start + bytes, ring.length));
    return Buffer.concat([first, ring.subarray(0, bytes - first.length)]);
  }

  function drop(bytes: number): void {
    length -= bytes;
    start = length === 0 ? 0 : (start + bytes) % ring.length;
  }

  function growTo(bytes: number): void {
    if (bytes <= ring.length) return;
    const larger = Buffer.allocUnsafe(Math.min(limit, Math.max(bytes, 2 * ring.length, SMALLEST_RING)));
    peek(length).copy(larger);
    ring = larger;
    start = 0;
  }

  return {
    add(chunk) {
      const kept = chunk.subarray(Math.max(0, chunk.length - limit));
      if (kept.length === 0) return;
      const pushedOut = Math.max(0, length + kept.length - limit);
      drop(pushedOut);
      lost += pushedOut + chunk.length - kept.length;
      growTo(length + kept.length);
      const at = (start + length) % ring.length;
      const first = kept.copy(ring, at);
      kept.copy(ring, 0, first);
      length += kept.length;
    },
    take(mostBytes, final) {
      const bytes = peek(Math.min(length, Math.max(mostBytes, LONGEST_CHARACTER)));
      const stray = lost > 0 ? strayContinuation(bytes) : 0;
      const more = !final || bytes.length < length;
      const held = more ? unfinishedCharacter(bytes) : 0;
      const shown = bytes.subarray(stray, bytes.length - held);
      const gap = lost + stray;
      lost = 0;
      drop(bytes.length - held);
      if (length === 0) ring = Buffer.alloc(0);
      const text = shown.toString('utf8');
      return { text: gap > 0 ? `[… ${gap} bytes lost …]\n${text}` : text, lost: gap, left: length };
    },
    ready: (final) =>
      length >= LONGEST_CHARACTER || (length > 0 && (final || unfinishedCharacter(peek(length)) < length)),
    get size() {
      return ring.length;
    },
  };
}
