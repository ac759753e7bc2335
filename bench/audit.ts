/**
 * What an audit record costs: durable appends a second and their latency, with group commit and without, at 1 and 64
 * concurrent callers; then the start and the verification of a long log. `node bench/audit.ts [directory]`: the
 * directory decides which disk is measured.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { deriveKeys } from '../src/audit/chain.ts';
import { type AuditLog, openAuditLog } from '../src/audit/log.ts';
import { verifyAudit } from '../src/audit/verify.ts';

const SECRET = 'c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00';
const SECONDS = 3;

const directory = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'bench-audit-'));
const print = (text: string) => process.stdout.write(`${text}\n`);
const record = () => ({
  event: 'intent' as const,
  time: new Date().toISOString(),
  id: '4368213c-72c2-45ae-a21f-1194f932fe91',
  tool: 'ssh_exec',
  client: { name: 'claude', ip: '203.0.113.7' },
  arguments: { device: 'web-1', command: 'uptime' },
  decision: 'allow' as const,
});

/** Without group commit: one record at a time gets to the log, so that each has a write and a flush of its own. */
function oneByOne(log: AuditLog): AuditLog['appendDurable'] {
  let last = Promise.resolve();
  return (entry) => (last = last.then(() => log.appendDurable(entry)));
}

async function measure(name: string, callers: number, append: AuditLog['appendDurable']): Promise<void> {
  const latencies: number[] = [];
  const from = performance.now();
  const caller = async (): Promise<void> => {
    while (performance.now() - from < SECONDS * 1_000) {
      const start = performance.now();
      await append(record());
      latencies.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const seconds = (performance.now() - from) / 1_000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => `${(latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(3)} ms`;
  const rate = Math.round(latencies.length / seconds);
  print(`${name.padEnd(30)} ${String(rate).padStart(8)} a second   p50 ${at(0.5)}   p99 ${at(0.99)}`);
}

try {
  const log = await openAuditLog({ path: join(directory, 'audit.log'), secret: SECRET });
  for (const callers of [1, 64]) {
    await measure(`group commit, ${callers} callers`, callers, (entry) => log.appendDurable(entry));
    await measure(`a flush a record, ${callers} callers`, callers, oneByOne(log));
    await measure(`not durable, ${callers} callers`, callers, (entry) => log.append(entry));
  }
  await log.close();

  const long = join(directory, 'long.log');
  for (const records of [1, 1_000_000]) {
    const filling = await openAuditLog({ path: long, secret: SECRET, maxBytes: 1024 ** 4 });
    for (let i = 0; i < records; i += 1_000) {
      await Promise.all(Array.from({ length: Math.min(1_000, records) }, () => filling.append(record())));
    }
    await filling.close();
    const times: number[] = [];
    for (let i = 0; i < 21; i += 1) {
      const from = performance.now();
      const opened = await openAuditLog({ path: long, secret: SECRET, maxBytes: 1024 ** 4 });
      times.push(performance.now() - from);
      await opened.close();
    }
    const median = times.sort((a, b) => a - b)[10] ?? 0;
    print(
      `open with ${records} records (${Math.ceil(statSync(long).size / 1024)} KiB): ${median.toFixed(2)} ms`,
    );
  }
  const from = performance.now();
  const { ok, records } = await verifyAudit(long, deriveKeys([SECRET]));
  const seconds = (performance.now() - from) / 1_000;
  const memory = Math.round(process.resourceUsage().maxRSS / 1024);
  print(
    `verify ${records} records: ok ${ok}, ${seconds.toFixed(1)} s; largest RSS of all of this ${memory} MiB`,
  );
} finally {
  rmSync(directory, { recursive: true });
}
