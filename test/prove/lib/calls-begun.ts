import type { WrittenRecord } from '../../../src/audit/record.ts';
import { inside } from '../../support/stack.ts';

/** The server's own account; without capabilities not even root reads its files. */
const SERVICE = '10001';

/** How many calls of each tool the stack's audit log says were begun. */
export async function callsBegun(): Promise<Map<string, number>> {
  const lines = (await inside('server', 'cat /data/audit/service-audit.log', SERVICE)).split('\n');
  const begun = new Map<string, number>();
  for (const line of lines.filter(Boolean)) {
    const { event, tool = '' } = JSON.parse(line) as WrittenRecord;
    if (event === 'intent') begun.set(tool, (begun.get(tool) ?? 0) + 1);
  }
  return begun;
}
