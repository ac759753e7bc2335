import { lstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

import { reading, rotatedFiles } from '../audit/files.ts';
import { type FileLine, linesBackwards, linesFrom, recordOf, textOf } from '../audit/lines.ts';
import type { AuditRecord } from '../audit/record.ts';
import { type AuditEntry, entryText } from './audit-text.ts';

export interface TailOptions {
  follow: boolean;
  /** The records as they are in the file, instead of a line a call. */
  json: boolean;
  tool?: string;
  /** How many calls (with `json`: records) of the past to show. */
  lines: number;
  write: (text: string) => void;
  signal?: AbortSignal;
}

const POLL_MS = 250;
/** How far back the intents of the calls shown are looked for. */
const MOST_EXTRA_LINES = 10_000;
/** Calls under way that are remembered until their outcome comes. */
const MOST_OPEN = 1_000;

/** Shows the last calls and, with `follow`, those to come, over rotations of the file. @throws the system's error */
export async function tailAudit(path: string, options: TailOptions): Promise<void> {
  const file = await open(path, 'r');
  const past = await lastEntries(path, file, options);
  const opened = new Map<string, AuditEntry>();
  for (const { entry, line } of past.shown) {
    options.write(`${options.json ? line : entryText(entry)}\n`);
    if (entry.record.event === 'intent' && !entry.outcome) opened.set(entry.id, entry);
  }
  if (!options.follow) return file.close();
  for await (const lines of follow(path, file, past.end, options.signal)) show(lines, opened, options);
}

interface Shown {
  entry: AuditEntry;
  line: string;
}

/** Reads backwards, so that the cost is that of what is shown. */
async function lastEntries(
  path: string,
  file: FileHandle,
  { lines: wanted, json, tool }: TailOptions,
): Promise<{ shown: Shown[]; end: number }> {
  const shown: Shown[] = [];
  const wantIntent = new Map<string, AuditEntry>();
  let end: number | undefined;
  let extra = 0;

  /** @returns whether that was enough */
  const take = (line: FileLine): boolean => {
    const record = recordOf(line) as AuditRecord | undefined;
    if (record === undefined || (tool !== undefined && record.tool !== tool)) return false;
    const waiting = record.event === 'intent' ? wantIntent.get(record.id) : undefined;
    if (waiting) {
      waiting.record = record;
      wantIntent.delete(record.id);
    } else if (shown.length < wanted) {
      const entry: AuditEntry = { id: record.id, record };
      if (record.event === 'outcome' && !json) {
        entry.outcome = record;
        wantIntent.set(record.id, entry);
      }
      shown.push({ entry, line: textOf(line) });
    } else {
      extra += 1;
    }
    return shown.length >= wanted && (wantIntent.size === 0 || extra > MOST_EXTRA_LINES);
  };

  const takeAll = async (from: FileHandle): Promise<boolean> => {
    for await (const line of linesBackwards(from)) {
      end ??= line.complete ? line.end : line.start;
      if (wanted === 0 || take(line)) return true;
    }
    end ??= 0;
    return false;
  };
  const { ino } = await file.stat();
  let enough = await takeAll(file);
  for (const name of rotatedFiles(path).toReversed()) {
    if (enough) break;
    enough = await reading(name, async (rotated) => (await rotated.stat()).ino !== ino && takeAll(rotated));
  }
  return { shown: shown.toReversed(), end: end ?? 0 };
}

/** Writes lines that have just come; an outcome that came with its intent makes one line with it. */
function show(
  lines: readonly FileLine[],
  opened: Map<string, AuditEntry>,
  { json, tool, write }: TailOptions,
): void {
  const fresh: AuditEntry[] = [];
  for (const line of lines) {
    const record = recordOf(line) as AuditRecord | undefined;
    if (record === undefined || (tool !== undefined && record.tool !== tool)) continue;
    if (json) {
      write(`${textOf(line)}\n`);
      continue;
    }
    const known = record.event === 'outcome' ? opened.get(record.id) : undefined;
    if (known) {
      opened.delete(record.id);
      known.outcome = record;
      if (!fresh.includes(known)) fresh.push(known);
    } else {
      const entry: AuditEntry = { id: record.id, record };
      fresh.push(entry);
      if (record.event === 'intent') opened.set(record.id, entry);
    }
  }
  for (const entry of fresh) write(`${entryText(entry)}\n`);
  for (const id of opened.keys()) {
    if (opened.size <= MOST_OPEN) break;
    opened.delete(id);
  }
}

/** What is appended from `offset` on, in the file and in those that follow it; ends with the signal. */
async function* follow(
  path: string,
  first: FileHandle,
  offset: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<FileLine[]> {
  let file = first;
  let at = offset;
  const ended = () => signal?.aborted === true;
  try {
    while (!ended()) {
      const { ino } = await file.stat();
      // Looked at before reading: what the writer put into the file before it moved on is read then.
      const moved = lstatSync(path, { throwIfNoEntry: false })?.ino !== ino;
      const lines: FileLine[] = [];
      for await (const line of linesFrom(file, at)) {
        if (!line.complete) break;
        lines.push(line);
        at = line.end;
      }
      if (lines.length > 0) yield lines;
      const next = moved ? await nextFile(path, ino) : undefined;
      if (next) {
        await file.close();
        file = next;
        at = 0;
        continue;
      }
      if ((await file.stat()).size < at) at = 0;
      else await wait(POLL_MS, undefined, signal && { signal }).catch(() => {});
    }
  } finally {
    await file.close();
  }
}

/** The file that follows the one of this inode: the next rotated one, or the current one. */
async function nextFile(path: string, ino: number): Promise<FileHandle | undefined> {
  const rotated = rotatedFiles(path);
  const index = rotated.findIndex((name) => lstatSync(name, { throwIfNoEntry: false })?.ino === ino);
  const next = index === -1 ? path : (rotated[index + 1] ?? path);
  return open(next, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}
