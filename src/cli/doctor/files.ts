import { constants } from 'node:fs';
import { access, lstat, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

import { systemCodeOf } from '../../core/errors.ts';

/**
 * Whether a file can be read and written, or made where there is none; nothing is written to find out.
 * @returns the time of its last change, undefined where it is still to be made
 * @throws Error that says why not
 */
export async function writableFile(
  path: string,
  { followLinks }: { followLinks: boolean },
): Promise<Date | undefined> {
  const entry = await (followLinks ? stat : lstat)(path).catch((error: unknown) => {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (entry === undefined) {
    await access(await nearestDirectory(path), constants.W_OK | constants.X_OK);
    return undefined;
  }
  if (entry.isSymbolicLink()) throw new Error('it is a symbolic link, which is not followed');
  if (!entry.isFile())
    throw new Error(entry.isDirectory() ? 'it is a directory' : 'it is not a regular file');
  await access(path, constants.R_OK | constants.W_OK);
  return entry.mtime;
}

/** The directory of a file, or the nearest one above that exists: those between are made when they are needed. */
export async function nearestDirectory(path: string): Promise<string> {
  const directory = dirname(path);
  const there = await stat(directory).catch(() => undefined);
  return there || directory === path ? directory : nearestDirectory(directory);
}
