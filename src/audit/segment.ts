import { constants, lstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** The file that is being written to. */
export interface Segment {
  readonly path: string;
  readonly file: FileHandle;
  readonly dev: number;
  readonly ino: number;
  /** Bytes up to the end of the last record that was written whole. */
  size: number;
}

const NEWLINE = 0x0a;

/** Opens for reading and appending; makes the file where there is none. @throws the system's error */
export async function openSegment(path: string): Promise<Segment> {
  // A symbolic link is not followed: it could lead what is recorded to where nobody looks.
  const flags =
    constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags, 0o600);
  try {
    if (!(await file.stat()).isFile()) throw new Error('not a regular file');
    // By name, as it is looked at later: some file systems number an open file differently.
    const { dev, ino, size } = lstatSync(path);
    return { path, file, dev, ino, size };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Writes all of it. What a failure leaves in the file is for the caller to remove. */
export async function appendTo({ file }: Segment, bytes: Uint8Array): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await file.write(bytes, done);
    done += bytesWritten;
  }
}

/** Ends the last line where it has no end. */
export async function endLine(segment: Segment): Promise<void> {
  if (segment.size === 0) return;
  const { buffer } = await segment.file.read(Buffer.alloc(1), 0, 1, segment.size - 1);
  if (buffer[0] === NEWLINE) return;
  await appendTo(segment, Buffer.from('\n'));
  segment.size += 1;
}

/**
 * What somebody else did to the file since it was written last. One system call on this thread: through the thread
 * pool it would take ten times as long.
 */
export function disturbance({
  path,
  dev,
  ino,
  size,
}: Segment): { what: string; sameFile?: { size: number } } | undefined {
  const seen = lstatSync(path, { throwIfNoEntry: false });
  if (seen === undefined) return { what: 'the file was removed' };
  if (seen.ino !== ino || seen.dev !== dev) return { what: 'the file was replaced' };
  if (seen.size === size) return undefined;
  const what = seen.size < size ? 'the file was cut' : 'the file was written to by another process';
  return { what: `${what} (${size} bytes became ${seen.size})`, sameFile: { size: seen.size } };
}
