import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { openAuditLog } from './log.ts';
import { type AuditRecord, clipArguments } from './record.ts';

const plain = (text: string) => text;
const record = (id: string): AuditRecord => ({ event: 'note', time: '2026-11-20T00:00:00.000Z', id });

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'audit-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const idsIn = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as AuditRecord).id);

describe('openAuditLog', () => {
  it('keeps the order of records that are written at once, and appends after a restart', async () => {
    const path = join(directory, 'new', 'audit.log');
    const first = await openAuditLog(path, plain);
    await Promise.all(
      ['a', 'b', 'c'].map((id) => (id === 'b' ? first.append(record(id)) : first.appendDurable(record(id)))),
    );
    await first.close();
    const second = await openAuditLog(path, plain);
    await second.appendDurable(record('d'));
    await second.close();
    expect(idsIn(path)).toEqual(['a', 'b', 'c', 'd']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('starts a new line after one that a crash cut short', async () => {
    const path = join(directory, 'audit.log');
    appendFileSync(path, '{"id":"whole"}\n{"id":"to');
    const log = await openAuditLog(path, plain);
    await log.appendDurable(record('next'));
    await log.close();
    expect(readFileSync(path, 'utf8').split('\n').slice(0, 2)).toEqual(['{"id":"whole"}', '{"id":"to']);
    expect(readFileSync(path, 'utf8').split('\n')[2]).toContain('"id":"next"');
  });

  it('redacts the whole line', async () => {
    const path = join(directory, 'audit.log');
    const log = await openAuditLog(path, (text) => text.replaceAll('s3cret', '[redacted]'));
    await log.appendDurable({ ...record('a'), arguments: { header: 's3cret' } });
    await log.close();
    expect(readFileSync(path, 'utf8')).toContain('"arguments":{"header":"[redacted]"}');
  });

  it('refuses a directory and a symbolic link', async () => {
    await expect(openAuditLog(directory, plain)).rejects.toThrow(/cannot be written \(EISDIR\)/);
    symlinkSync('/dev/null', join(directory, 'link'));
    await expect(openAuditLog(join(directory, 'link'), plain)).rejects.toThrow(/cannot be written \(ELOOP\)/);
  });

  it('rejects a record that comes after it was closed', async () => {
    const path = join(directory, 'audit.log');
    const log = await openAuditLog(path, plain);
    await log.close();
    await expect(log.appendDurable(record('late'))).rejects.toMatchObject({ code: 'internal' });
  });
});

describe('clipArguments', () => {
  it('cuts long strings and names the cut', () => {
    expect(clipArguments({ command: 'x'.repeat(2_050) })).toEqual({
      command: `${'x'.repeat(2_048)}… [2 more characters]`,
    });
  });

  it('cuts lists, objects and nesting', () => {
    expect(clipArguments(Array.from({ length: 101 }, () => 1))).toHaveLength(101);
    expect((clipArguments(Array.from({ length: 150 }, () => 1)) as unknown[]).at(-1)).toBe('[50 more]');
    let deep: unknown = 'bottom';
    for (let i = 0; i < 20; i += 1) deep = { deep };
    expect(JSON.stringify(clipArguments(deep))).toContain('[nested deeper]');
  });
});
