/** One line of JSON a message on standard error: what a container's log driver and `jq` both read. */
export interface Log {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/**
 * A log that writes to `write`.
 * @param redact is applied to each whole line, so that no field can carry a secret out
 */
export function createLog(
  write: (line: string) => void,
  redact: (text: string) => string = (text) => text,
): Log {
  const emit =
    (level: string) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      const line = JSON.stringify({ time: new Date().toISOString(), level, message, ...fields });
      write(`${redact(line)}\n`);
    };
  return { info: emit('info'), warn: emit('warn'), error: emit('error') };
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };

/**
 * Writes the lines of one turn of the event loop together. A line a system call costs a refused call under load more
 * than its audit record does. `flush` writes what is still held; call it before the process ends.
 */
export function gatherLines(write: (text: string) => void): {
  write: (text: string) => void;
  flush: () => void;
} {
  let held = '';
  const flush = () => {
    if (held === '') return;
    const text = held;
    held = '';
    write(text);
  };
  return {
    write(text) {
      if (held === '') setImmediate(flush);
      held += text;
    },
    flush,
  };
}
