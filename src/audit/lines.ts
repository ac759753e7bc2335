import type { FileHandle } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

/** A line of the log as it stands in the file. */
export interface FileLine {
  /** One character a byte (latin1): a decoder would map different broken bytes to the same text. */
  text: string;
  /** Offset of its first byte. */
  start: number;
  /** Offset after it, and after its newline where it has one. */
  end: number;
  /** Whether it ends with a newline. */
  complete: boolean;
}

const NEWLINE = 0x0a;
const FIRST_CHUNK = 16 * 1024;
const CHUNK = 256 * 1024;
/** No record comes near this; it bounds the memory that a file of something else can cost. */
const LONGEST = 32 * 1024 * 1024;
const LATER_TRIES = 5;
const LATER_MS = 40;

/**
 * The lines from an offset on, in bounded memory; of a line that is too long only the beginning.
 * @param growing waits a moment for the rest of an incomplete last line: the server may be writing it
 */
export async function* linesFrom(file: FileHandle, offset = 0, growing = false): AsyncGenerator<FileLine> {
  // Small at first: of a file's beginning, often only the first line is asked for.
  let chunk = Buffer.allocUnsafe(FIRST_CHUNK);
  let parts: string[] = [];
  let held = 0;
  let start = offset;
  let at = offset;
  let tries = growing ? LATER_TRIES : 0;
  const take = (bytes: Buffer) => {
    if (held < LONGEST) parts.push(bytes.toString('latin1'));
    held += bytes.length;
  };
  const finish = (complete: boolean): FileLine => {
    const line = { text: parts.join(''), start, end: start + held + (complete ? 1 : 0), complete };
    parts = [];
    held = 0;
    start = line.end;
    return line;
  };
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) {
      if (held === 0 || tries === 0) break;
      tries -= 1;
      await wait(LATER_MS);
      continue;
    }
    at += bytesRead;
    let from = 0;
    for (;;) {
      const found = chunk.subarray(0, bytesRead).indexOf(NEWLINE, from);
      if (found === -1) break;
      take(chunk.subarray(from, found));
      yield finish(true);
      from = found + 1;
    }
    if (from < bytesRead) take(chunk.subarray(from, bytesRead));
    if (chunk.length < CHUNK) chunk = Buffer.allocUnsafe(CHUNK);
  }
  if (held > 0) yield finish(false);
}

/**
 * The lines from the end of the file backwards; its cost is that of what is taken, however long the file.
 * Ends early after LONGEST bytes without a newline.
 */
export async function* linesBackwards(file: FileHandle): AsyncGenerator<FileLine> {
  const { size } = await file.stat();
  let at = size;
  let end = size;
  let complete = false;
  /** What was read of the line that ends at `end`, its last part first. */
  let parts: string[] = [];
  let held = 0;
  // Small at first: mostly the last few lines are all that is asked for.
  let step = FIRST_CHUNK;
  while (at > 0 && held < LONGEST) {
    const length = Math.min(step, at);
    step = CHUNK;
    at -= length;
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead < length) return;
    let until = length;
    for (;;) {
      const found = until === 0 ? -1 : buffer.lastIndexOf(NEWLINE, until - 1);
      if (found === -1) break;
      parts.push(buffer.toString('latin1', found + 1, until));
      const start = at + found + 1;
      if (start < size) yield { text: parts.toReversed().join(''), start, end, complete };
      parts = [];
      held = 0;
      end = start;
      complete = true;
      until = found;
    }
    if (until > 0) parts.push(buffer.toString('latin1', 0, until));
    held += until;
  }
  if (at === 0 && end > 0) yield { text: parts.toReversed().join(''), start: 0, end, complete };
}

/** The text of a line as it was written. */
export function textOf({ text }: FileLine): string {
  return Buffer.from(text, 'latin1').toString();
}

/** The line's record; undefined where it is not a JSON object. */
export function recordOf(line: FileLine): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(textOf(line));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
