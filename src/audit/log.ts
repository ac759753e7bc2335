import { messageOf, systemCodeOf, ToolError } from '../core/errors.ts';
import { deriveKey, deriveKeys } from './chain.ts';
import { writeHead } from './head.ts';
import type { AuditRecord } from './record.ts';
import { Writer } from './writer.ts';

export interface AuditLog {
  /** Appends a record and resolves once it is on disk. Rejects with a ToolError when it cannot be written. */
  appendDurable(record: AuditRecord): Promise<void>;
  /** Appends a record and resolves once the kernel has it: it survives the process, not a power cut. */
  append(record: AuditRecord): Promise<void>;
  /** Whether the last write succeeded and nobody else had a hand in the files, for health checks. */
  state(): { ok: boolean; detail: string };
  close(): Promise<void>;
}

export interface AuditLogOptions {
  path: string;
  /** MCP_SECRET, which the chain's key is derived from. */
  secret: string;
  /** Secrets before it: what was written with them is taken up again. */
  previousSecrets?: readonly string[];
  /** A file is rotated before it grows beyond this; 64 MiB. */
  maxBytes?: number;
  /** Rotated files that are kept, 0 for all; 10. */
  keepFiles?: number;
  /** Takes secrets out of a line of JSON. */
  redact?: (text: string) => string;
  /** Handed all lines once they are written, as they stand in the file. Must not throw. */
  onWritten?: (lines: Buffer) => void;
}

/** The log used when AUDIT_ENABLED=false. */
export const noAudit: AuditLog = {
  appendDurable: async () => {},
  append: async () => {},
  state: () => ({ ok: true, detail: 'off' }),
  close: async () => {},
};

/** How often the head file is written at most. */
const HEAD_MS = 1_000;

interface Pending {
  text: string;
  durable: boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Opens the log: one writer, append only. Records that wait while the disk is flushed go out together in
 * the next write, so that durability costs one flush a batch and not one a call.
 * @throws ToolError when the file cannot be opened for appending
 */
export async function openAuditLog(options: AuditLogOptions): Promise<AuditLog> {
  const { path, onWritten, redact = (text) => text, maxBytes = 64 * 1024 ** 2, keepFiles = 10 } = options;
  const key = deriveKey(options.secret);
  const keys = deriveKeys([options.secret, ...(options.previousSecrets ?? [])]);
  const writer = await Writer.open({ path, key, keys, maxBytes, keepFiles, redact }).catch(
    (error: unknown) => {
      throw cannotWrite(path, error);
    },
  );
  let queue: Pending[] = [];
  let flushing: Promise<void> | undefined;
  let closed = false;
  let failure: string | undefined;
  let savedHead = 0;
  let headTimer: NodeJS.Timeout | undefined;
  let savingHead = Promise.resolve();

  const saveHead = (): Promise<void> => {
    clearTimeout(headTimer);
    headTimer = undefined;
    const position = writer.durable;
    if (position.seq === savedHead) return savingHead;
    savedHead = position.seq;
    // A head that cannot be written (full disk) is an old head; it promises less, and nothing false.
    savingHead = savingHead.then(() => writeHead(path, key, position)).catch(() => {});
    return savingHead;
  };

  const writeBatch = async (batch: readonly Pending[]): Promise<void> => {
    try {
      const lines = await writer.write(
        batch.map(({ text }) => text),
        batch.some(({ durable }) => durable),
      );
      failure = undefined;
      for (const entry of batch) entry.resolve();
      onWritten?.(lines);
    } catch (error) {
      failure = systemCodeOf(error) ?? messageOf(error);
      const refusal = cannotWrite(path, error);
      for (const entry of batch) entry.reject(refusal);
    }
    if (writer.durable.seq !== savedHead) headTimer ??= setTimeout(() => void saveHead(), HEAD_MS).unref();
  };

  const flush = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      await writeBatch(batch);
    }
    flushing = undefined;
  };

  const enqueue = (record: AuditRecord, durable: boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      if (closed) {
        reject(cannotWrite(path, new Error('the log is closed')));
        return;
      }
      queue.push({ text: redact(JSON.stringify(record)), durable, resolve, reject });
      // Deferred by a turn, so that calls that arrive together share the first flush too.
      flushing ??= Promise.resolve().then(flush);
    });

  // What the log has to say of itself. Where it cannot be written (full disk), it goes out before the first record.
  await writeBatch([]);
  await saveHead();

  return {
    appendDurable: (record) => enqueue(record, true),
    append: (record) => enqueue(record, false),
    state: () => {
      const trouble = failure ?? writer.trouble;
      return trouble === undefined ? { ok: true, detail: path } : { ok: false, detail: trouble };
    },
    close: async () => {
      closed = true;
      await flushing;
      await writer.close().catch(() => {});
      await saveHead();
    },
  };
}

function cannotWrite(path: string, cause: unknown): ToolError {
  const why = systemCodeOf(cause) ?? messageOf(cause);
  return new ToolError(
    'internal',
    `The audit log ${path} cannot be written (${why}), and without a record no call is run.`,
    { hint: 'Make the file writable or free disk space on the server, then call again.', cause },
  );
}
