import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { deriveKeys } from './chain.ts';
import { type AuditLog, type AuditLogOptions, openAuditLog } from './log.ts';
import { type AuditRecord, clipArguments, type WrittenRecord } from './record.ts';
import { verifyAudit } from './verify.ts';

const SECRET = 'c0ffee00c0ffee00c0ffee00c0ffee00';
const record = (id: string): AuditRecord => ({ event: 'intent', time: '2026-11-20T00:00:00.000Z', id });

let directory: string;
let path: string;
let log: AuditLog | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'audit-'));
  path = join(directory, 'audit.log');
});
afterEach(async () => {
  await log?.close();
  rmSync(directory, { recursive: true, force: true });
});

const open = async (options: Partial<AuditLogOptions> = {}) =>
  (log = await openAuditLog({ path, secret: SECRET, ...options }));
/** Opens the log, appends one record an id, and closes it. */
async function write(ids: readonly string[], options: Partial<AuditLogOptions> = {}) {
  const log = await open(options);
  for (const id of ids) await log.appendDurable(record(id));
  await log.close();
}
const recordsIn = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as WrittenRecord);
/** What stands in the file: the ids of records and the messages of notes. */
const gist = (file = path) =>
  recordsIn(file).map(({ event, message, id }) => (event === 'note' ? message : id));
const verify = (...secrets: string[]) => verifyAudit(path, deriveKeys([SECRET, ...secrets]));
const inOrder = () =>
  readdirSync(directory)
    .filter((name) => !name.endsWith('.head'))
    .sort();

describe('openAuditLog', () => {
  it('keeps the order of records that are written at once, and goes on after a restart', async () => {
    path = join(directory, 'new', 'audit.log');
    const first = await open();
    await Promise.all(
      ['a', 'b', 'c'].map((id) => (id === 'b' ? first.append(record(id)) : first.appendDurable(record(id)))),
    );
    await first.close();
    await write(['d']);
    expect(
      recordsIn(path)
        .map(({ seq, id }) => [seq, id])
        .slice(1),
    ).toEqual([
      [2, 'a'],
      [3, 'b'],
      [4, 'c'],
      [5, 'd'],
    ]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await verify()).toMatchObject({ ok: true, verified: 5 });
  });

  it('redacts the whole line, and tells listeners no more than the file', async () => {
    const told: Buffer[] = [];
    const log = await open({
      redact: (text) => text.replaceAll('s3cret', '[redacted]'),
      onWritten: (lines) => void told.push(lines),
    });
    await log.appendDurable({ ...record('a'), arguments: { header: 's3cret' } });
    expect(readFileSync(path, 'utf8')).toContain('"arguments":{"header":"[redacted]"}');
    expect(Buffer.concat(told).toString()).toBe(readFileSync(path, 'utf8'));
  });

  it('holds nothing that is made with the secret itself', async () => {
    await write(['a']);
    const everything = readFileSync(path, 'utf8') + readFileSync(`${path}.head`, 'utf8');
    expect(everything).not.toContain(SECRET);
    expect([...deriveKeys([SECRET]).keys()]).toEqual(['a689c76464ad']);
  });

  it('refuses a directory and a symbolic link', async () => {
    path = directory;
    await expect(open()).rejects.toThrow(/cannot be written \(EISDIR\)/);
    path = join(directory, 'link');
    symlinkSync('/dev/null', path);
    await expect(open()).rejects.toThrow(/cannot be written \(ELOOP\)/);
  });

  it('rejects a record that comes after it was closed', async () => {
    const log = await open();
    await log.close();
    await expect(log.appendDurable(record('late'))).rejects.toMatchObject({ code: 'internal' });
  });
});

describe('a start', () => {
  it('cuts off what a crash left unfinished, and says what it was', async () => {
    await write(['a']);
    appendFileSync(path, '{"seq":3,"event":"int');
    expect((await verify()).first).toMatchObject({ kind: 'torn', line: 3 });
    await write(['b']);
    expect(gist()).toEqual(['a new file', 'a', 'an unfinished line at the end was cut off', 'b']);
    expect(recordsIn(path)[2]?.cut).toEqual({
      bytes: 21,
      // printf '{"seq":3,"event":"int' | sha256sum
      sha256: '3c69b16d1d19ef28e0f5b14f30ca73755798d948b27712c067699d71e1553807',
      beginning: '{"seq":3,"event":"int',
    });
    expect(await verify()).toMatchObject({ ok: true, verified: 4 });
  });

  it('cuts off blocks of zeros, which a power cut can leave, newlines among them', async () => {
    await write(['a']);
    appendFileSync(path, `${'\0'.repeat(5_000)}\n${'\0'.repeat(5_000)}`);
    await write(['b']);
    expect(recordsIn(path)[2]?.cut).toMatchObject({ bytes: 10_001 });
    expect(await verify()).toMatchObject({ ok: true, verified: 4 });
  });

  it('ends a last line that lacks nothing but its end', async () => {
    await write(['a']);
    truncateSync(path, statSync(path).size - 1);
    await write(['b']);
    expect(gist()).toEqual(['a new file', 'a', 'b']);
    expect((await verify()).ok).toBe(true);
  });

  it('keeps whole lines that somebody added, so that they are found', async () => {
    await write(['a']);
    appendFileSync(path, '{"id":"somebody"}\n');
    await write(['b']);
    expect(gist()).toEqual(['a new file', 'a', 'somebody', 'b']);
    expect((await verify()).first).toMatchObject({ kind: 'changed', line: 3 });
  });

  it('notices that the end is missing, and leaves the gap to be seen', async () => {
    await write(['a', 'b', 'c']);
    writeFileSync(path, readFileSync(path, 'utf8').split('\n').slice(0, 2).join('\n') + '\n');
    const log = await open();
    expect(log.state()).toEqual({
      ok: false,
      detail: 'records 3 to 4 had been written, and were gone or others at the start',
    });
    await log.close();
    expect((await verify()).first).toMatchObject({ kind: 'dropped', line: 3 });
  });

  it('notices that all of it is missing, and that the head file is', async () => {
    await write(['a']);
    unlinkSync(path);
    await write([]);
    expect((await verify()).first).toMatchObject({ kind: 'dropped', line: 1 });
    unlinkSync(`${path}.head`);
    expect((await open()).state()).toMatchObject({
      ok: false,
      detail: 'the head file was gone at the start',
    });
  });

  it('goes on from the rotated file when a crash came between two files', async () => {
    await write(['a']);
    renameSync(path, `${path}.000001`);
    await write(['b']);
    unlinkSync(path);
    writeFileSync(path, '{"seq":3,"ev');
    unlinkSync(`${path}.head`);
    await write(['c']);
    expect(gist().slice(-1)).toEqual(['c']);
    expect(recordsIn(path)[0]).toMatchObject({
      seq: 3,
      segment: { previous: recordsIn(`${path}.000001`)[1]?.mac },
    });
    expect(await verify()).toMatchObject({ ok: true });
  });

  it('with another secret begins a new file, tied to the one before', async () => {
    await write(['a']);
    await write(['b'], { secret: 'the next one', previousSecrets: [SECRET] });
    await write(['c'], { secret: 'the next one' });
    expect(inOrder()).toEqual(['audit.log', 'audit.log.000001']);
    expect(gist()).toEqual(['MCP_SECRET, and so the key, has changed', 'b', 'c']);
    expect(await verify('the next one')).toMatchObject({ ok: true, verified: 5 });
  });

  it('with another secret notices by the old one that the end is missing', async () => {
    await write(['a', 'b']);
    truncateSync(path, readFileSync(path, 'utf8').indexOf('\n') + 1);
    const log = await open({ secret: 'the next one', previousSecrets: [SECRET] });
    expect(log.state().detail).toMatch(/^records 2 to 3 had been written/);
  });
});

describe('rotation', () => {
  it('carries the chain over, with records that arrive at once', async () => {
    const log = await open({ maxBytes: 4_000, keepFiles: 0 });
    const ids = Array.from({ length: 300 }, (_, i) => `id-${i}`);
    for (let i = 0; i < ids.length; i += 20) {
      await Promise.all(
        ids.slice(i, i + 20).map((id, n) => (n % 2 ? log.append(record(id)) : log.appendDurable(record(id)))),
      );
    }
    await log.close();
    const files = inOrder();
    expect(files.length).toBeGreaterThan(9);
    const written = [...files.slice(1), 'audit.log'].flatMap((name) => gist(join(directory, name)));
    expect(written.filter((id) => id?.startsWith('id-'))).toEqual(ids);
    expect(await verify()).toMatchObject({ ok: true, records: 300 + files.length });
    for (const name of files) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
  });

  it('keeps as many files as it was told, and the log still verifies', async () => {
    const ids = Array.from({ length: 100 }, (_, i) => `id-${i}`);
    await write(ids, { maxBytes: 1_500, keepFiles: 2 });
    const kept = inOrder();
    expect(kept).toHaveLength(3);
    const answer = await verify();
    expect(answer).toMatchObject({ ok: true, files: 3 });
    // The next header says the same after a restart.
    await write(ids.slice(0, 10), { maxBytes: 1_500, keepFiles: 0 });
    expect(inOrder().length).toBeGreaterThan(3);
    expect(await verify()).toMatchObject({ ok: true });
    unlinkSync(join(directory, kept[1]!));
    expect((await verify()).first).toMatchObject({ kind: 'dropped', line: 1 });
    await write(['next']);
    expect((await verify()).first).toMatchObject({ kind: 'dropped', line: 1 });
  });
});

describe('while it is written to', () => {
  it.each([
    ['removed', () => unlinkSync(path), /^the file was removed after record 2$/],
    ['moved away', () => renameSync(path, `${path}.moved`), /^the file was removed after record 2$/],
    ['emptied', () => truncateSync(path, 0), /^the file was cut \(\d+ bytes became 0\) after record 2$/],
    [
      'replaced',
      () => (renameSync(path, `${path}.moved`), writeFileSync(path, 'x\n')),
      /^the file was replaced after record 2$/,
    ],
  ])('a file that is %s is noticed, and the gap stays to be seen', async (_, disturb, message) => {
    const log = await open();
    await log.appendDurable(record('a'));
    disturb();
    await log.appendDurable(record('b'));
    await log.append(record('c'));
    expect(log.state()).toEqual({ ok: false, detail: expect.stringMatching(message) });
    await log.close();
    expect(readFileSync(path, 'utf8')).toMatch(/"seq":3.*after record 2.*\n.*"id":"b".*\n.*"id":"c".*\n$/);
    expect((await verify()).first).toMatchObject({ kind: 'dropped', file: path });
  });

  it('what another process appends is noticed', async () => {
    const log = await open();
    await log.appendDurable(record('a'));
    appendFileSync(path, 'half a line');
    await log.appendDurable(record('b'));
    expect(log.state().detail).toMatch(/^the file was written to by another process/);
    expect((await verify()).first).toMatchObject({ kind: 'changed', line: 3 });
  });

  it('a directory in its place refuses every record until it is gone', async () => {
    const log = await open();
    await log.appendDurable(record('a'));
    renameSync(path, `${path}.moved`);
    mkdirSync(path);
    await expect(log.appendDurable(record('b'))).rejects.toThrow(/cannot be written \(EISDIR\)/);
    await expect(log.append(record('c'))).rejects.toThrow(/cannot be written \(EISDIR\)/);
    expect(log.state()).toEqual({ ok: false, detail: 'EISDIR' });
    rmSync(path, { recursive: true });
    await log.appendDurable(record('d'));
    expect(gist()).toEqual(['the file was replaced after record 2', 'd']);
    await log.close();
    expect(basename((await verify()).first?.file ?? '')).toBe('audit.log');
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
