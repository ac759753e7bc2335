/** What snippet_kb and mesh_status take where there is much to know: 10,000 notes, 10,000 devices. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { Bench, Report } from './lib/bench.ts';
import { startServer } from './lib/process.ts';
import { product } from './lib/product.ts';
import { UNLIMITED, call, calls } from './tools/call.ts';
import { type Outside, startOutside, wordAt } from './tools/outside.ts';

const NOTES = 10_000;
const DEVICES = 10_000;
const ROUNDS = 5;
const SEARCHES = 100;
/** Longer than the server takes an answer of the mesh's API for current. */
const STALE_MS = 5_100;

const SEARCH = 'A search in 10,000 notes';
const STATUS = 'mesh_status on 10,000 devices';

const QUERIES = [
  ['a word of one note', 'unique4711'],
  ['two words of some notes', `${wordAt(3_000)} ${wordAt(200)}`],
  ['a misspelt word and two others', `${wordAt(500)}x ${wordAt(800)} ${wordAt(40)}`],
  ['a word of every note', wordAt(0)],
] as const;

export const bench: Bench = {
  name: 'knowledge',
  title: 'snippet_kb and mesh_status where there is much to know',
  async run(report) {
    report.lowerIsBetter(SEARCH);
    report.lowerIsBetter(STATUS);
    const directory = mkdtempSync(join(tmpdir(), 'bench-knowledge-'));
    const outside = await startOutside({ devices: DEVICES, notes: NOTES });
    try {
      const server = await startServer(product(directory, { ...UNLIMITED, ...outside.env }));
      try {
        await search(report, server.port);
        await status(report, server.port, outside);
      } finally {
        await server.stop();
      }
    } finally {
      await outside.close();
      rmSync(directory, { recursive: true });
    }
    report.note(
      'Calls go over HTTP through the whole gate, audited; the APIs are stand-ins on the same machine.',
    );
  },
};

async function search(report: Report, port: number): Promise<void> {
  report.say('the index is being filled');
  const from = performance.now();
  await untilIndexed(port);
  report.figure('Until 10,000 notes are indexed', 'first search', 's', [(performance.now() - from) / 1_000]);
  let worst = 0;
  for (const [label, query] of QUERIES) {
    report.say(`searching for ${label}`);
    const p50: number[] = [];
    const p99: number[] = [];
    await calls(port, 'snippet_kb', { action: 'search', query }, 20);
    for (let round = 0; round < ROUNDS; round += 1) {
      const result = await calls(port, 'snippet_kb', { action: 'search', query }, SEARCHES);
      p50.push(result.p50);
      p99.push(result.p99);
    }
    report.figure(SEARCH, `${label}, p50`, 'ms', p50);
    worst = Math.max(worst, report.figure(SEARCH, `${label}, p99`, 'ms', p99));
  }
  report.target('A search in 10,000 notes, p99 of the slowest query', worst, 'at most', 20, 'ms');
}

async function untilIndexed(port: number): Promise<void> {
  for (;;) {
    const answer = await call(port, 'snippet_kb', { action: 'search', query: 'unique0' });
    if (answer['error'] !== undefined) throw new Error(JSON.stringify(answer['error']));
    if (answer['incomplete'] === undefined) return;
    await wait(500);
  }
}

async function status(report: Report, port: number, outside: Outside): Promise<void> {
  const own: number[] = [];
  const api: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    report.say(`mesh_status, round ${round + 1}`);
    await wait(STALE_MS);
    api.push(await outside.listDevices());
    const { p50 } = await calls(port, 'mesh_status', { device: 'device-9999' }, 1);
    own.push(p50);
  }
  const whole: number[] = [];
  const cached: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    cached.push((await calls(port, 'mesh_status', { device: 'device-9999' }, 20)).p50);
    whole.push((await calls(port, 'mesh_status', {}, 5)).p50);
  }
  const ownTime = report.figure(STATUS, 'one device, the list read anew', 'ms', own);
  const apiTime = report.figure(STATUS, 'the API alone', 'ms', api);
  report.figure(STATUS, 'one device, the list known', 'ms', cached);
  report.figure(STATUS, 'all of them, the list known', 'ms', whole);
  report.target('mesh_status on 10,000 devices, beyond the API', ownTime - apiTime, 'at most', 50, 'ms');
}
