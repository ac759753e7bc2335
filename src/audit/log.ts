import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

import { ToolError, messageOf, systemCodeOf } from '../core/errors.ts';
import type { AuditRecord } from './record.ts';

export interface AuditLog {
  /** Appends a record and resolves once it is on disk. Rejects with a ToolError when it cannot be written. */
  appendDurable(record: AuditRecord): Promise<void>;
  /** Appends a record and resolves once the kernel has it: it survives the process, not a power cut. */
  append(record: AuditRecord): Promise<void>;
  /** Whether the last write succeeded, for health checks. */
  state(): { ok: boolean; detail: string };
  close(): Promise<void>;
}

/** The log used when AUDIT_ENABLED=false. */
export const noAudit: AuditLog = {
  appendDurable: async () => {},
  append: async () => {},
  state: () => ({ ok: true, detail: 'off' }),
  close: async () => {},
};

const NEWLINE = 0x0a;

interface Pending {
  line: string;
  durable: boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Opens the log: one writer, append only. Records that wait while the disk is flushing go out together in
 * the next write, so that durability costs one flush a batch and not one a call.
 * @throws ToolError when the file cannot be opened for appending
 */
export async function openAuditLog(path: string, redact: (text: string) => string): Promise<AuditLog> {
  const file = await openForAppend(path);
  let queue: Pending[] = [];
  let flushing: Promise<void> | undefined;
  let closed = false;
  let failure: string | undefined;
  // A line that was cut short (power loss, full disk) must not swallow the next one.
  let torn = await endsMidLine(path);

  const write = async (batch: readonly Pending[]): Promise<void> => {
    const bytes = Buffer.from((torn ? '\n' : '') + batch.map((entry) => entry.line).join(''));
    let done = 0;
    try {
      while (done < bytes.length) {
        const { bytesWritten } = await file.write(bytes, done);
        done += bytesWritten;
      }
    } finally {
      torn = done === 0 ? torn : bytes[done - 1] !== NEWLINE;
    }
    // Those who wait for durability wait for this; a failed flush is never retried, because the kernel
    // may have dropped the pages and would then report success for data that is gone.
    if (batch.some((entry) => entry.durable)) await file.datasync();
  };

  const flush = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      try {
        await write(batch);
        failure = undefined;
        for (const entry of batch) entry.resolve();
      } catch (error) {
        failure = systemCodeOf(error) ?? messageOf(error);
        const refusal = cannotWrite(path, error);
        for (const entry of batch) entry.reject(refusal);
      }
    }
    flushing = undefined;
  };

  const enqueue = (record: AuditRecord, durable: boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      if (closed) {
        reject(cannotWrite(path, new Error('the log is closed')));
        return;
      }
      queue.push({ line: `${redact(JSON.stringify(record))}\n`, durable, resolve, reject });
      // Deferred by a turn, so that calls that arrive together share the first flush too.
      flushing ??= Promise.resolve().then(flush);
    });

  return {
    appendDurable: (record) => enqueue(record, true),
    append: (record) => enqueue(record, false),
    state: () => (failure === undefined ? { ok: true, detail: path } : { ok: false, detail: failure }),
    close: async () => {
      closed = true;
      await flushing;
      await file.datasync().catch(() => {});
      await file.close();
    },
  };
}

async function openForAppend(path: string): Promise<FileHandle> {
  try {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(
      path,
      constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
      0o600,
    );
    if (!(await file.stat()).isFile()) throw new Error('not a regular file');
    return file;
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

async function endsMidLine(path: string): Promise<boolean> {
  const file = await open(path, constants.O_RDONLY);
  try {
    const { size } = await file.stat();
    if (size === 0) return false;
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] !== NEWLINE;
  } finally {
    await file.close();
  }
}

function cannotWrite(path: string, cause: unknown): ToolError {
  const why = systemCodeOf(cause) ?? messageOf(cause);
  return new ToolError(
    'internal',
    `The audit log ${path} cannot be written (${why}), and without a record no call is run.`,
    { hint: 'Make the file writable or free disk space on the server, then call again.', cause },
  );
}
