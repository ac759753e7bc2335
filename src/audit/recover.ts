import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

import { type ChainKey, GENESIS, parseSealed, type Position } from './chain.ts';
import { reading, rotatedFiles } from './files.ts';
import { type Head, readHead } from './head.ts';
import { linesBackwards, linesFrom, type FileLine, recordOf, textOf } from './lines.ts';
import type { AuditRecord, AuditSegment } from './record.ts';

/** Where an existing log is taken up again. */
export interface Recovered {
  position: Position;
  /** The first record still kept; see AuditSegment. */
  oldest: number;
  /** The current file's key: undefined where it is empty or does not begin with a header of the chain. */
  key: string | undefined;
  /** Size of the current file after the repair. */
  size: number;
  /** Bytes of the current file that are no part of any chain. */
  unchained: number;
  cut?: NonNullable<AuditRecord['cut']>;
  /** Records that the head knows and the log does not have. */
  missing?: { from: number; to: number };
  head: Head['state'];
}

const BEGINNING = 2_048;

/**
 * Reads how far the log had come and mends its end: an unfinished last line is cut off. Only the file's end and its
 * first line are read, so that a start takes as long with a million records as with one.
 */
export async function recover(
  path: string,
  file: FileHandle,
  keys: ReadonlyMap<string, ChainKey>,
): Promise<Recovered> {
  const tail = await readTail(file);
  const cut = await mend(file, tail);
  const { size } = await file.stat();
  const header = size === 0 ? undefined : await segmentOf(file);
  let { last } = tail;
  let oldest = header?.segment.oldest;
  if (last === undefined) {
    // Nothing of the chain in the current file: a crash came between two files, or somebody emptied it.
    const before = await lastRotated(path);
    last = before?.last;
    oldest = before?.oldest;
  }
  const head = await readHead(path, keys);
  const recovered: Recovered = {
    head: head.state,
    position: last ?? GENESIS,
    oldest: oldest ?? 1,
    key: tail.last === undefined ? undefined : header?.segment.key,
    size,
    unchained: tail.last === undefined ? size : 0,
    ...(cut && { cut }),
  };

  if (head.state !== 'read' || head.seq < recovered.position.seq) return recovered;
  if (head.seq === recovered.position.seq && head.mac === recovered.position.mac) return recovered;
  // The chain goes on from where it was, not from what is left: so the gap stays to be seen.
  const from = Math.min(recovered.position.seq + 1, head.seq);
  return {
    ...recovered,
    position: { seq: head.seq, mac: head.mac },
    missing: { from, to: head.seq },
  };
}

interface Tail {
  last?: Position;
  /** What follows the last record of the chain, the last line first. */
  after: FileLine[];
}

async function readTail(file: FileHandle): Promise<Tail> {
  const after: FileLine[] = [];
  for await (const line of linesBackwards(file)) {
    const sealed = parseSealed(line.text);
    if (sealed && recordOf(line)) {
      if (!line.complete) after.push(line);
      return { last: { seq: sealed.seq, mac: sealed.mac }, after };
    }
    after.push(line);
  }
  return { after };
}

/**
 * Cuts what a crash left unfinished: the last line where it has no newline, and, behind a record of the chain, lines
 * that are not JSON at all (blocks of zeros). Whole lines of anything else were written by somebody and stay.
 */
async function mend(file: FileHandle, { last, after }: Tail): Promise<Recovered['cut']> {
  const [end] = after;
  if (end === undefined) return undefined;
  if (!end.complete && parseSealed(end.text)) {
    // Only its newline is missing.
    await file.write('\n');
    return undefined;
  }
  const whole = after.filter(({ complete }) => complete);
  const garbage = last !== undefined && whole.every((line) => recordOf(line) === undefined);
  const lines = garbage ? after : after.filter(({ complete }) => !complete);
  const first = lines.at(-1);
  if (first === undefined) return undefined;
  const text = lines.toReversed().map((line) => line.text + (line.complete ? '\n' : ''));
  const bytes = Buffer.from(text.join(''), 'latin1');
  await file.truncate(first.start);
  return {
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    beginning: textOf({ ...first, text: first.text.slice(0, BEGINNING) }),
  };
}

/** The header a file begins with. */
export async function segmentOf(
  file: FileHandle,
): Promise<{ seq: number; segment: AuditSegment } | undefined> {
  for await (const line of linesFrom(file)) {
    const sealed = parseSealed(line.text);
    const segment = sealed && (recordOf(line)?.['segment'] as AuditSegment | undefined);
    return segment && typeof segment === 'object' ? { seq: sealed.seq, segment } : undefined;
  }
  return undefined;
}

async function lastRotated(path: string): Promise<{ last?: Position; oldest?: number } | undefined> {
  const newest = rotatedFiles(path).at(-1);
  if (newest === undefined) return undefined;
  return reading(newest, async (file) => {
    const { last } = await readTail(file);
    const oldest = (await segmentOf(file))?.segment.oldest;
    return { ...(last && { last }), ...(oldest !== undefined && { oldest }) };
  });
}
