import type { AuditRecord } from '../audit/record.ts';

/** Lines of the audit log that nobody has looked at yet. */
export interface TrailBacklog {
  /** @param lines whole ones, as written */
  put(lines: Buffer): void;
  /** Hands on the records that are still of interest, the oldest first, and keeps nothing. */
  empty(): void;
}

const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Keeps lines as bytes until somebody looks: records that are parsed when they are written, and kept as objects for a
 * while, cost a refused call a tenth of its time, and the process 60 MB under load before they are collected.
 * @param most of the newest records, as many as are of interest
 */
export function createTrailBacklog(most: number, take: (record: AuditRecord) => void): TrailBacklog {
  let waiting: Buffer[] = [];
  let held = 0;

  function empty(): void {
    const newest: string[] = [];
    for (let lines = waiting.pop(); lines && newest.length < most; lines = waiting.pop()) {
      newest.push(...lines.toString('utf8').split('\n').filter(Boolean).toReversed());
    }
    waiting = [];
    held = 0;
    for (const line of newest.slice(0, most).toReversed()) take(JSON.parse(line) as AuditRecord);
  }

  return {
    put(lines) {
      waiting.push(lines);
      held += lines.length;
      if (held > MOST_BYTES) empty();
    },
    empty,
  };
}
