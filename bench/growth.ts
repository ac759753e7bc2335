/** Whether a call costs the same however much is known: devices, audit records, notes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openAuditLog } from '../src/audit/log.ts';
import { record } from './audit.ts';
import { type Bench, type Report, median } from './lib/bench.ts';
import { type ServerProcess, startServer } from './lib/process.ts';
import { SECRET, product } from './lib/product.ts';
import { UNLIMITED, call, calls } from './tools/call.ts';
import { type Outside, startOutside } from './tools/outside.ts';

const ROUNDS = 7;
const REQUESTS = 400;
const RECORDS = 1_000_000;

/** One of two servers that are alike but for how much there is. */
interface Side {
  server: ServerProcess;
  close(): Promise<void>;
}

interface Call {
  tool: string;
  args: object | ((port: number) => Promise<object>);
  /** How the answer must look, so that nothing else is measured. */
  expected: RegExp;
}

export const bench: Bench = {
  name: 'growth',
  title: 'What a call costs, little known and much',
  async run(report) {
    const device = { device: 'device-0', command: 'true' };
    await compare(report, {
      series: 'ssh_exec to a device that is offline',
      few: ['1 device', () => side({ devices: 1, notes: 1 })],
      many: ['1,000 devices', () => side({ devices: 1_000, notes: 1 })],
      call: { tool: 'ssh_exec', args: device, expected: /device_offline/ },
    });
    await compare(report, {
      series: 'A refused call, its record flushed to disk',
      few: ['1 audit record', () => side({ devices: 1, notes: 1 }, 1)],
      many: ['1,000,000 audit records', () => side({ devices: 1, notes: 1 }, RECORDS)],
      call: { tool: 'ssh_exec', args: { ...device, command: 'mkfs' }, expected: /"blocked":true/ },
    });
    await compare(report, {
      series: 'snippet_kb get of one note',
      few: ['1 note', () => side({ devices: 1, notes: 1 })],
      many: ['10,000 notes', () => side({ devices: 1, notes: 10_000 })],
      call: { tool: 'snippet_kb', args: anyNote, expected: /unique/ },
    });
    report.note('Both servers run at the same time and are asked in turn, over HTTP through the whole gate.');
  },
};

/** The arguments that ask for a note, once all are known. */
async function anyNote(port: number): Promise<object> {
  for (;;) {
    const answer = await call(port, 'snippet_kb', { action: 'search', query: 'unique0' });
    const [note] = (answer['notes'] ?? []) as { id: string }[];
    if (note && answer['incomplete'] === undefined) return { action: 'get', id: note.id };
    if (answer['error'] !== undefined) throw new Error(JSON.stringify(answer['error']));
  }
}

async function side(much: { devices: number; notes: number }, records = 0): Promise<Side> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-growth-'));
  const outside: Outside = await startOutside(much);
  if (records > 0) await writeRecords(join(directory, 'audit.log'), records);
  const env = { ...UNLIMITED, ...outside.env, SSH_BLOCKED_COMMANDS: 'mkfs' };
  // Never rotated, so that all its records are in the one that is written to.
  const server = await startServer(product(directory, { ...env, AUDIT_MAX_BYTES: String(1024 ** 4) }));
  return {
    server,
    async close() {
      await server.stop();
      await outside.close();
      rmSync(directory, { recursive: true });
    },
  };
}

async function writeRecords(path: string, count: number): Promise<void> {
  const log = await openAuditLog({ path, secret: SECRET, maxBytes: 1024 ** 4 });
  for (let written = 0; written < count; written += 1_000) {
    const batch = Math.min(1_000, count - written);
    await Promise.all(Array.from({ length: batch }, () => log.append(record())));
  }
  await log.close();
}

interface Comparison {
  series: string;
  few: readonly [string, () => Promise<Side>];
  many: readonly [string, () => Promise<Side>];
  call: Call;
}

async function compare(report: Report, { series, few, many, call: asked }: Comparison): Promise<void> {
  report.lowerIsBetter(series);
  report.say(series);
  const sides = [await few[1](), await many[1]()];
  try {
    const costs: number[][] = [[], []];
    const args: object[] = [];
    for (const { server } of sides) {
      const own = typeof asked.args === 'function' ? await asked.args(server.port) : asked.args;
      args.push(own);
      const answer = JSON.stringify(await call(server.port, asked.tool, own));
      if (!asked.expected.test(answer)) throw new Error(`${series}: ${answer.slice(0, 500)}`);
      await calls(server.port, asked.tool, own, REQUESTS);
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, { server }] of sides.entries()) {
        const before = server.cpu();
        await calls(server.port, asked.tool, args[index] ?? {}, REQUESTS, 4);
        costs[index]?.push((server.cpu() - before) / REQUESTS);
      }
    }
    const [one = [], much = []] = costs;
    const little = report.figure(series, few[0], 'ms CPU', one);
    const lots = report.figure(series, many[0], 'ms CPU', much);
    report.target(
      `${series}: ${many[0]}, of ${few[0]}`,
      lots / Math.max(little, median(one)),
      'at most',
      1.1,
    );
  } finally {
    for (const each of sides) await each.close();
  }
}
