/**
 * Appends to an audit log until it is killed, several callers at a time, and prints each id once it is acknowledged.
 * Arguments: path, secret, bytes a file, prefix of the ids.
 */
import { writeSync } from 'node:fs';

import { openAuditLog } from '../../src/audit/log.ts';

const [path = '', secret = '', maxBytes = '', prefix = ''] = process.argv.slice(2);
const log = await openAuditLog({ path, secret, maxBytes: Number(maxBytes), keepFiles: 0 });
let next = 0;

async function caller(): Promise<void> {
  for (;;) {
    const id = `${prefix}-${(next += 1)}`;
    const record = { time: new Date().toISOString(), id, tool: 'ssh_exec' };
    await log.appendDurable({
      ...record,
      event: 'intent',
      arguments: { command: 'x'.repeat((next * 37) % 400) },
    });
    // To the kernel at once, as the records are: what is printed is what the caller could have acted on.
    writeSync(1, `${id}\n`);
    await log.append({ ...record, event: 'outcome', outcome: 'ok' });
  }
}

await Promise.all(Array.from({ length: 8 }, caller));
