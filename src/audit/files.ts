import { constants, readdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/**
 * The log's files: the one at AUDIT_LOG_PATH is written to; when it is full it is renamed to the same name with the
 * next number (`service-audit.log.000001`), so that the numbers are the order.
 */
export function rotatedFiles(path: string): string[] {
  const prefix = `${basename(path)}.`;
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .filter((number) => /^\d{6,15}$/.test(number))
    .sort((a, b) => Number(a) - Number(b))
    .map((number) => `${path}.${number}`);
}

/** What the current file will be called when it is full. */
export function nextRotatedFile(path: string): string {
  const last = rotatedFiles(path).at(-1);
  const number = last === undefined ? 0 : Number(last.slice(path.length + 1));
  return `${path}.${String(number + 1).padStart(6, '0')}`;
}

/** The rotated files that are too many, the oldest first, and the oldest one that stays. */
export function surplusFiles(path: string, keep: number): { surplus: string[]; oldest?: string } {
  const files = rotatedFiles(path);
  const surplus = keep === 0 ? [] : files.slice(0, Math.max(0, files.length - keep));
  const oldest = files[surplus.length];
  return { surplus, ...(oldest !== undefined && { oldest }) };
}

/** Makes a file's new name survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Runs `act` on a file opened for reading. */
export async function reading<T>(path: string, act: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return await act(file);
  } finally {
    await file.close();
  }
}
