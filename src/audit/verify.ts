import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

import type { ChainKey } from './chain.ts';
import { ChainChecker, type Counts, type Fault } from './checker.ts';
import { rotatedFiles } from './files.ts';
import { headPath, type Head, readHead } from './head.ts';
import { linesFrom } from './lines.ts';

export interface Verification extends Counts {
  /** Whether every record is verified, the beginning and the end included. */
  ok: boolean;
  files: number;
  /** The first fault, in the order of the log. */
  first?: Fault;
  /** What the head file says of the end; 'unchecked' where single files were given without one. */
  end: Head['state'] | 'unchecked';
}

/**
 * Verifies the log at `path` with its rotated files, or the files given, in their order; also while the server
 * writes to it. Memory does not grow with the log.
 * @param given single files: then nothing is known of what came before the first, and of the end only by a head file
 * @throws the system's error where a file cannot be read
 */
export async function verifyAudit(
  path: string,
  keys: ReadonlyMap<string, ChainKey>,
  given: readonly string[] = [],
): Promise<Verification> {
  const whole = given.length === 0;
  const lastName = given.at(-1) ?? path;
  // Read before the files: what it promises must be in them by then.
  const head = await readHead(lastName, keys);
  const checker = new ChainChecker(keys, head.state === 'read' ? head : undefined);
  let files = 0;
  for await (const { name, file } of whole ? filesOf(path) : opened(given)) {
    files += 1;
    let number = 0;
    for await (const line of linesFrom(file, 0, name === lastName)) {
      number += 1;
      checker.take({ ...line, file: name, number });
    }
  }
  const { counts } = checker;
  const end = head.state === 'missing' && !whole ? 'unchecked' : head.state;
  const first = checker.finish(whole) ?? headFault(end, lastName, counts.records);
  return {
    ok: first === undefined && counts.unverifiable.size === 0 && end !== 'unknown_key',
    ...counts,
    files,
    ...(first && { first }),
    end,
  };
}

interface OpenFile {
  name: string;
  file: FileHandle;
}

async function* opened(names: readonly string[]): AsyncGenerator<OpenFile> {
  for (const name of names) {
    const file = await open(name, constants.O_RDONLY);
    try {
      yield { name, file };
    } finally {
      await file.close();
    }
  }
}

/** The log's files in their order. The server may rotate them meanwhile, so the current one is opened first. */
async function* filesOf(path: string): AsyncGenerator<OpenFile> {
  const current = await open(path, constants.O_RDONLY).catch((error: NodeJS.ErrnoException) => {
    // A crash between two files leaves none for a while.
    if (error.code === 'ENOENT' && rotatedFiles(path).length > 0) return undefined;
    throw error;
  });
  try {
    const { ino } = (await current?.stat()) ?? {};
    for await (const rotated of opened(rotatedFiles(path))) {
      if ((await rotated.file.stat()).ino !== ino) yield rotated;
    }
    if (current) yield { name: path, file: current };
  } finally {
    await current?.close();
  }
}

function headFault(end: Verification['end'], name: string, records: number): Fault | undefined {
  const file = headPath(name);
  if (end === 'forged')
    return { kind: 'changed', file, line: 1, detail: 'the head file is not what was written' };
  if (end !== 'missing' || records === 0) return undefined;
  const detail = 'the head file is missing, so that nobody can say whether the end of the log is';
  return { kind: 'truncated', file, line: 1, detail };
}
