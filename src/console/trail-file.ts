import { reading } from '../audit/files.ts';
import { linesBackwards, recordOf } from '../audit/lines.ts';
import type { AuditRecord } from '../audit/record.ts';

/** A call has two records at most. */
const MOST_RECORDS = 1_000;

/**
 * The last records of an audit log, the oldest first; none where the file cannot be read. Lines that are no records
 * are passed over: the log's own verification tells of those.
 */
export async function readTail(path: string, most = MOST_RECORDS): Promise<AuditRecord[]> {
  try {
    return await reading(path, async (file) => {
      const records: AuditRecord[] = [];
      for await (const line of linesBackwards(file)) {
        const record = recordOf(line);
        if (record && ['event', 'id', 'time'].every((name) => typeof record[name] === 'string')) {
          records.push(record as unknown as AuditRecord);
        }
        if (records.length >= most) break;
      }
      return records.toReversed();
    });
  } catch {
    return [];
  }
}
