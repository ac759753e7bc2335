import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { deriveKeys } from '../../src/audit/chain.ts';
import { openAuditLog } from '../../src/audit/log.ts';
import type { WrittenRecord } from '../../src/audit/record.ts';
import { verifyAudit } from '../../src/audit/verify.ts';
import { SECRET } from '../support/server.ts';

// "Audit after run" loses what a crash interrupts, and a log that buffers loses what it had acknowledged.

const APPENDER = resolve('test/support/audit-appender.ts');
const KEYS = deriveKeys([SECRET]);

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'audit-crash-'));
  path = join(directory, 'audit.log');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const startAppender = (maxBytes: number, prefix: string, shell = '') => {
  const command = `${shell}exec "${process.execPath}" "${APPENDER}" "${path}" "${SECRET}" ${maxBytes} ${prefix}`;
  const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  let errors = '';
  let look: () => unknown = () => {};
  child.stdout.on('data', (chunk) => {
    text += String(chunk);
    look();
  });
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  const ended = once(child, 'close');
  return {
    child,
    /** Resolves once this many ids are acknowledged. */
    acknowledged: (count: number) =>
      new Promise<void>((done, fail) => {
        look = () => text.split('\n').length > count && done();
        look();
        void ended.then(() => fail(new Error(`ended early: ${errors}`)));
      }),
    ended: ended.then(() => ({ ids: text.split('\n').slice(0, -1), errors })),
  };
};

const records = (): WrittenRecord[] =>
  readdirSync(directory)
    .filter((name) => !name.includes('.head'))
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n').filter(Boolean))
    .map((line) => JSON.parse(line) as WrittenRecord);

describe('kill -9', () => {
  it('at 20 random moments, rotations among them, loses no acknowledged record and breaks no file', async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      const appender = startAppender(6_000, `r${round}`);
      await appender.acknowledged(1 + Math.floor(Math.random() * 150));
      appender.child.kill('SIGKILL');
      acknowledged.push(...(await appender.ended).ids);
      // Only its end can be unfinished.
      expect(['torn', undefined]).toContain((await verifyAudit(path, KEYS)).first?.kind);
      // A start mends the end; after it, everything must be in order.
      await (await openAuditLog({ path, secret: SECRET, maxBytes: 6_000, keepFiles: 0 })).close();
      const answer = await verifyAudit(path, KEYS);
      expect(answer.first).toBeUndefined();
      expect(answer.ok).toBe(true);
    }
    const intents = new Set(records().flatMap(({ event, id }) => (event === 'intent' ? [id] : [])));
    expect(acknowledged.filter((id) => !intents.has(id))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(20);
    expect(readdirSync(directory).length).toBeGreaterThan(20);
  });
});

describe('a full disk', () => {
  it('leaves whole records alone, and the log goes on once there is room', async () => {
    // A limit on the size of files is met like a full disk: part of a batch is written, then nothing more.
    const appender = startAppender(1_000_000, 'full', 'ulimit -f 8; ');
    const { ids, errors } = await appender.ended;
    expect(ids.length).toBeGreaterThan(3);
    expect(errors).toContain('cannot be written (EFBIG)');
    expect(statSync(path).size).toBeLessThanOrEqual(8 * 1024);
    expect(await verifyAudit(path, KEYS)).toMatchObject({ bad: 0 });
    const log = await openAuditLog({ path, secret: SECRET });
    await log.appendDurable({ event: 'intent', time: new Date().toISOString(), id: 'room again' });
    await log.close();
    expect(await verifyAudit(path, KEYS)).toMatchObject({ ok: true });
    const written = records().map(({ id }) => id);
    expect(ids.filter((id) => !written.includes(id))).toEqual([]);
    expect(written.at(-1)).toBe('room again');
  });
});
