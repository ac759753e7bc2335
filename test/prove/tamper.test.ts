import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { deriveKeys } from '../../src/audit/chain.ts';
import { type AuditLog, openAuditLog } from '../../src/audit/log.ts';
import { verifyAudit } from '../../src/audit/verify.ts';
import { prove, tries } from './row.ts';
import { type Draw, type LogFiles, TAMPERINGS } from './vectors/tampering.ts';

// Whoever has taken over the machine wants the log to be silent about it.

const SECRET = 'ba5eba11ba5eba11ba5eba11ba5eba11';
const KEYS = deriveKeys([SECRET]);

prove('audit', 'A copy of the log that was changed without the secret is found out', async () => {
  const own = await makeLog(SECRET, 40);
  const foreign = await makeLog('another secret, and a guess', 40);
  const draw = drawing(20261120);
  const kinds = Object.entries(TAMPERINGS);
  const failures: string[] = [];
  const wanted = tries(1_000, 100);
  if (!(await found(own)).startsWith('nothing')) failures.push('the log is not whole to begin with');
  for (let at = 0; at < wanted;) {
    const [name, tamper] = kinds[at % kinds.length] as (typeof kinds)[number];
    const copy = tamper(own, draw, foreign);
    if (same(own, copy)) continue;
    at += 1;
    const answer = await found(copy);
    if (answer.startsWith('nothing')) failures.push(`copy ${at}, ${name}: ${answer}`);
  }
  return {
    tries: wanted,
    failures,
    figures: `${kinds.length} ways to tamper, each about ${Math.round(wanted / kinds.length)} times`,
    missed: await misses(),
  };
});

/** What is known not to be found; each is tried, so that the list is true. */
async function misses(): Promise<string[]> {
  const missed: string[] = [];
  const older = await makeLog(SECRET, 20);
  if ((await found(older)).startsWith('nothing'))
    missed.push('all files of the log replaced by an older copy of all of them, the head file included');
  const cut = await makeLog(SECRET, 40, async (log) => {
    // Within a second of the head file that was written at the start.
    await log.appendDurable(recordOf(99));
  });
  const lines = (cut.get('audit.log') as Buffer).toString('latin1').split('\n').slice(0, -2);
  const shorter = new Map(cut).set('audit.log', Buffer.from(`${lines.join('\n')}\n`, 'latin1'));
  if ((await found(shorter)).startsWith('nothing'))
    missed.push('whole records cut off the end within a second of their being written');
  return missed;
}

const recordOf = (number: number) => ({
  event: 'intent' as const,
  time: '2026-11-20T00:00:00.000Z',
  id: `record-${number}`,
  tool: 'ssh_exec',
  arguments: { device: 'web-1', command: `echo ${'é'.repeat((number * 7) % 50)}` },
});

/** Files of a log of four segments; `last` writes to it once more, and then its files are taken as they lie there. */
async function makeLog(
  secret: string,
  records: number,
  last?: (log: AuditLog) => Promise<void>,
): Promise<LogFiles> {
  const directory = mkdtempSync(join(tmpdir(), 'tamper-'));
  try {
    const options = { path: join(directory, 'audit.log'), secret, maxBytes: 3_000 };
    const log = await openAuditLog(options);
    for (let number = 1; number <= records; number += 1) await log.appendDurable(recordOf(number));
    await log.close();
    if (!last) return filesIn(directory);
    const again = await openAuditLog({ ...options, maxBytes: 100_000 });
    await last(again);
    const files = filesIn(directory);
    await again.close();
    return files;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function filesIn(directory: string): LogFiles {
  const rank = (name: string) => (name.endsWith('.head') ? '3' : name === 'audit.log' ? '2' : `1${name}`);
  const names = readdirSync(directory).sort((a, b) => rank(a).localeCompare(rank(b)));
  return new Map(names.map((name) => [name, readFileSync(join(directory, name))]));
}

/** What `audit verify` says of these files: the first fault, or that there is none. */
async function found(files: LogFiles): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'tampered-'));
  try {
    for (const [name, content] of files) writeFileSync(join(directory, name), content);
    const { ok, first } = await verifyAudit(join(directory, 'audit.log'), KEYS);
    return ok ? 'nothing was found' : (first?.kind ?? 'not verified');
  } catch (error) {
    return `refused: ${String(error)}`;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const same = (a: LogFiles, b: LogFiles): boolean =>
  a.size === b.size && [...a].every(([name, content]) => b.get(name)?.equals(content));

/** mulberry32: the same copies in every run. */
function drawing(seed: number): Draw {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
  };
}
