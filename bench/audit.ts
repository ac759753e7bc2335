/**
 * What an audit record costs: durable appends a second and their latency, with group commit and without, at 1 and 64
 * concurrent callers; then the start and the verification of a long log. `npm run bench -- audit [directory]`: the
 * directory decides which disk is measured.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { deriveKeys } from '../src/audit/chain.ts';
import { type AuditLog, openAuditLog } from '../src/audit/log.ts';
import { verifyAudit } from '../src/audit/verify.ts';
import { type Bench, quantile } from './lib/bench.ts';

const SECRET = 'c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00';
const ROUNDS = 3;
const ROUND_MS = 1_000;
const LONG = 1_000_000;

const RATE = 'Records a second';
const LATENCY = 'Time until a record is written, p99';
const OPEN = 'Time to open the log at the start';

/** A record as a call leaves it. */
export const record = () => ({
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

/** Records a second, and the time in ms that 99 of 100 of them were written in. */
async function measure(
  callers: number,
  append: AuditLog['appendDurable'],
): Promise<{ rate: number; p99: number }> {
  const latencies: number[] = [];
  const from = performance.now();
  const caller = async (): Promise<void> => {
    while (performance.now() - from < ROUND_MS) {
      const start = performance.now();
      await append(record());
      latencies.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return {
    rate: latencies.length / ((performance.now() - from) / 1_000),
    p99: quantile(latencies, 0.99),
  };
}

async function openTimes(path: string): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < 21; i += 1) {
    const from = performance.now();
    const log = await openAuditLog({ path, secret: SECRET, maxBytes: 1024 ** 4 });
    times.push(performance.now() - from);
    await log.close();
  }
  return times;
}

export const bench: Bench = {
  name: 'audit',
  title: 'What an audit record costs',
  async run(report, args) {
    const directory = mkdtempSync(join(args[0] ?? tmpdir(), 'bench-audit-'));
    try {
      report.lowerIsBetter(LATENCY);
      report.lowerIsBetter(OPEN);
      const log = await openAuditLog({ path: join(directory, 'audit.log'), secret: SECRET });
      const durable = (entry: ReturnType<typeof record>) => log.appendDurable(entry);
      const variants: [string, number, AuditLog['appendDurable']][] = [1, 64].flatMap((callers) => [
        [`group commit, ${callers} callers`, callers, durable],
        [`a flush a record, ${callers} callers`, callers, oneByOne(log)],
        [`not durable, ${callers} callers`, callers, (entry) => log.append(entry)],
      ]);
      const measured = variants.map(() => [] as { rate: number; p99: number }[]);
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [index, [name, callers, append]] of variants.entries()) {
          report.say(`round ${round + 1}: ${name}`);
          measured[index]?.push(await measure(callers, append));
        }
      }
      await log.close();
      for (const [index, [name]] of variants.entries()) {
        const rounds = measured[index] ?? [];
        report.figure(
          RATE,
          name,
          'records/s',
          rounds.map(({ rate }) => rate),
        );
        report.figure(
          LATENCY,
          name,
          'ms',
          rounds.map(({ p99 }) => p99),
        );
      }

      const path = join(directory, 'long.log');
      const first = await openAuditLog({ path, secret: SECRET, maxBytes: 1024 ** 4 });
      await first.append(record());
      await first.close();
      const short = report.figure(OPEN, '1 record', 'ms', await openTimes(path));
      report.say(`writing ${LONG} records`);
      const filling = await openAuditLog({ path, secret: SECRET, maxBytes: 1024 ** 4 });
      for (let i = 0; i < LONG; i += 1_000) {
        await Promise.all(Array.from({ length: 1_000 }, () => filling.append(record())));
      }
      await filling.close();
      const long = report.figure(OPEN, '1,000,000 records', 'ms', await openTimes(path));
      report.target(
        'Opening a log of 1,000,000 records, beyond that of one',
        long - short,
        'at most',
        5,
        'ms',
      );

      const from = performance.now();
      const { ok, records } = await verifyAudit(path, deriveKeys([SECRET]));
      if (!ok) throw new Error(`the log of ${records} records does not verify`);
      const seconds = (performance.now() - from) / 1_000;
      report.figure('Verifying the chain', 'audit verify', 'records/s', [records / seconds]);
      report.note('Durable means that the disk was flushed before the call went on.');
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};
