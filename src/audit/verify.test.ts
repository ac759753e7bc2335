import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { deriveKeys } from './chain.ts';
import { openAuditLog } from './log.ts';
import { type Verification, verifyAudit } from './verify.ts';

// Hash chains elsewhere were kept without a key, so whoever edited a line could compute the rest anew; and no chain
// by itself shows that its end was cut off.

const SECRET = 'c0ffee00c0ffee00c0ffee00c0ffee00';
const KEYS = deriveKeys([SECRET]);
const NAMES = ['audit.log.000001', 'audit.log.000002', 'audit.log', 'audit.log.head'];

let original: string;
let directory: string;
const path = () => join(directory, 'audit.log');
const verify = (keys = KEYS) => verifyAudit(path(), keys);
const at = ({ first }: Verification) => first && `${basename(first.file)}:${first.line} ${first.kind}`;

/** Changes one of the log's files, by default the one written to. */
function edit(change: (lines: string[]) => string[], name = 'audit.log'): void {
  const file = join(directory, name);
  const lines = readFileSync(file, 'latin1').split('\n').slice(0, -1);
  writeFileSync(
    file,
    change(lines)
      .map((line) => `${line}\n`)
      .join(''),
    'latin1',
  );
}

beforeAll(async () => {
  original = mkdtempSync(join(tmpdir(), 'verify-'));
  // Three files of a header and nine records each.
  const log = await openAuditLog({ path: join(original, 'audit.log'), secret: SECRET, maxBytes: 2_050 });
  for (let i = 1; i <= 27; i += 1) {
    const id = `record-${String(i).padStart(2, '0')}`;
    await log.appendDurable({
      event: 'intent',
      time: '2026-11-20T00:00:00.000Z',
      id,
      arguments: `${'é'.repeat(19)}\uFFFD`,
    });
  }
  await log.close();
  directory = mkdtempSync(join(tmpdir(), 'verify-'));
});
afterAll(() => {
  rmSync(original, { recursive: true });
  rmSync(directory, { recursive: true });
});
const restore = () => {
  for (const name of readdirSync(directory)) unlinkSync(join(directory, name));
  for (const name of NAMES) copyFileSync(join(original, name), join(directory, name));
};
beforeEach(restore);

describe('a log that nobody touched', () => {
  it('is verified over all its files', async () => {
    expect(await verify()).toEqual({
      ok: true,
      files: 3,
      records: 30,
      verified: 30,
      bad: 0,
      unverifiable: new Map(),
      end: 'read',
    });
  });

  it('is verified file by file', async () => {
    const answer = await verifyAudit(path(), KEYS, [join(directory, 'audit.log.000002')]);
    expect(answer).toMatchObject({ ok: true, files: 1, verified: 10, end: 'unchecked' });
  });
});

describe('tampering', () => {
  const swapFiles = (a: string, b: string) => {
    renameSync(join(directory, a), join(directory, 'x'));
    renameSync(join(directory, b), join(directory, a));
    renameSync(join(directory, 'x'), join(directory, b));
  };
  const drop = (...indices: number[]) => edit((lines) => lines.filter((_, i) => !indices.includes(i)));

  it.each<[string, () => void, string]>([
    [
      'a byte changed',
      () => edit((l) => l.with(4, l[4]!.replace('record', 'recorf'))),
      'audit.log:5 changed',
    ],
    ['a mac changed', () => edit((l) => l.with(4, l[4]!.replace(/.(?="}$)/, '-'))), 'audit.log:5 changed'],
    [
      'a byte that no decoder reads',
      () => edit((l) => l.with(4, l[4]!.replace('ï¿½', 'ÿ'))),
      'audit.log:5 changed',
    ],
    [
      'a header changed',
      () => edit((l) => l.with(0, l[0]!.replace('"oldest":1', '"oldest":9'))),
      'audit.log:1 changed',
    ],
    ['a line that is no record any more', () => edit((l) => l.with(4, 'x')), 'audit.log:5 changed'],
    ['a first line that is no record any more', () => edit((l) => l.with(0, 'x')), 'audit.log:1 changed'],
    ['a line dropped', () => drop(4), 'audit.log:5 dropped'],
    ['three lines dropped', () => drop(4, 5, 6), 'audit.log:5 dropped'],
    ['a header dropped', () => drop(0), 'audit.log:1 dropped'],
    ['two lines swapped', () => edit((l) => l.with(4, l[5]!).with(5, l[4]!)), 'audit.log:5 reordered'],
    ['a line moved to the end', () => edit((l) => [...l.toSpliced(4, 1), l[4]!]), 'audit.log:5 reordered'],
    [
      'a line moved to the front',
      () => edit((l) => [l[0]!, l[7]!, ...l.slice(1).toSpliced(6, 1)]),
      'audit.log:2 reordered',
    ],
    ['a line duplicated', () => edit((l) => l.toSpliced(4, 0, l[3]!)), 'audit.log:5 duplicated'],
    [
      'a later line duplicated earlier',
      () => edit((l) => l.toSpliced(4, 0, l[7]!)),
      'audit.log:5 duplicated',
    ],
    [
      'a line made up',
      () => edit((l) => l.toSpliced(4, 0, l[4]!.replace('record', 'recorf'))),
      'audit.log:5 inserted',
    ],
    ['an empty line', () => edit((l) => l.toSpliced(4, 0, '')), 'audit.log:5 changed'],
    ['a line cut in the middle', () => edit((l) => l.with(4, l[4]!.slice(0, 60))), 'audit.log:5 changed'],
    [
      'the last newline cut',
      () => truncateSync(path(), readFileSync(path()).length - 1),
      'audit.log:10 torn',
    ],
    [
      'the last line cut short',
      () => truncateSync(path(), readFileSync(path()).length - 9),
      'audit.log:10 torn',
    ],
    ['the last line dropped', () => drop(9), 'audit.log:9 truncated'],
    ['half of the file dropped', () => drop(5, 6, 7, 8, 9), 'audit.log:5 truncated'],
    [
      'the last line and the head file dropped',
      () => (drop(9), unlinkSync(`${path()}.head`)),
      'audit.log.head:1 truncated',
    ],
    [
      'the head file changed',
      () => edit((l) => [l[0]!.replace('"seq":30', '"seq":29')], 'audit.log.head'),
      'audit.log.head:1 changed',
    ],
    ['the first file removed', () => unlinkSync(join(directory, NAMES[0]!)), 'audit.log.000002:1 dropped'],
    ['a file in the middle removed', () => unlinkSync(join(directory, NAMES[1]!)), 'audit.log:1 dropped'],
    ['the last file removed', () => unlinkSync(path()), 'audit.log.000002:10 truncated'],
    ['two rotated files swapped', () => swapFiles(NAMES[0]!, NAMES[1]!), 'audit.log.000001:1 reordered'],
    [
      'the first and the last file swapped',
      () => swapFiles(NAMES[0]!, NAMES[2]!),
      'audit.log.000001:1 reordered',
    ],
  ])('is found: %s', async (_, tamper, expected) => {
    tamper();
    const answer = await verify();
    expect(at(answer)).toBe(expected);
    expect(answer.ok).toBe(false);
  });

  it('is found when the mac was computed anew with another key', async () => {
    const other = mkdtempSync(join(tmpdir(), 'verify-'));
    const forged = await openAuditLog({ path: join(other, 'audit.log'), secret: 'a guess' });
    await forged.appendDurable({ event: 'intent', time: '2026-11-20T00:00:00.000Z', id: 'forged' });
    await forged.close();
    const line = readFileSync(join(other, 'audit.log'), 'latin1')
      .split('\n')[1]!
      .replace('"seq":2,', '"seq":25,');
    edit((lines) => lines.with(4, line));
    expect(at(await verify())).toBe('audit.log:5 changed');
    copyFileSync(join(other, 'audit.log'), path());
    expect((await verify()).ok).toBe(false);
    rmSync(other, { recursive: true });
  });

  it('is found when the line comes from another log that was made with the same key', async () => {
    const other = mkdtempSync(join(tmpdir(), 'verify-'));
    const log = await openAuditLog({ path: join(other, 'audit.log'), secret: SECRET });
    for (let i = 2; i <= 30; i += 1) {
      await log.appendDurable({ event: 'intent', time: '2026-11-20T00:00:00.000Z', id: `other-${i}` });
    }
    await log.close();
    const lines = readFileSync(join(other, 'audit.log'), 'latin1').split('\n');
    edit((own) => own.with(4, lines[24]!));
    expect(at(await verify())).toBe('audit.log:5 changed');
    rmSync(other, { recursive: true });
  });

  it('is one fault where one line was changed', async () => {
    edit((lines) => lines.with(4, lines[4]!.replace('record', 'recorf')));
    expect(await verify()).toMatchObject({ bad: 1, verified: 29 });
  });

  it('is found in each of 1,000 copies tampered with at random', async () => {
    const file = fc.constantFrom(...NAMES.slice(0, 3));
    const line = fc.nat(9);
    const tampering = fc.oneof(
      fc.record({
        how: fc.constant('byte'),
        file,
        line,
        other: fc.nat(400),
        byte: fc.integer({ min: 1, max: 255 }),
      }),
      fc.record({
        how: fc.constantFrom('drop', 'cut', 'blank'),
        file,
        line,
        other: fc.integer({ min: 1, max: 9 }),
      }),
      fc.record({ how: fc.constantFrom('swap', 'move', 'copy'), file, line, other: line }),
    );
    await fc.assert(
      fc.asyncProperty(tampering, async (t) => {
        restore();
        const { line: a, other: b } = t;
        edit((lines) => {
          switch (t.how) {
            case 'byte': {
              const text = lines[a]!;
              const i = b % text.length;
              const changed = text.charCodeAt(i) ^ (t as unknown as { byte: number }).byte;
              return lines.with(a, text.slice(0, i) + String.fromCharCode(changed) + text.slice(i + 1));
            }
            case 'drop':
              return lines.toSpliced(a, b);
            case 'cut':
              return lines.with(a, lines[a]!.slice(0, -b));
            case 'blank':
              return lines.toSpliced(a, 0, '');
            case 'swap':
              return lines.with(a, lines[b]!).with(b, lines[a]!);
            case 'move':
              return lines.toSpliced(a, 1).toSpliced(b, 0, lines[a]!);
            default:
              return lines.toSpliced(b, 0, lines[a]!);
          }
        }, t.file);
        const same = NAMES.every((n) =>
          readFileSync(join(directory, n)).equals(readFileSync(join(original, n))),
        );
        expect((await verify()).ok).toBe(same);
      }),
      { numRuns: 1_000, seed: 20261120 },
    );
  }, 120_000);
});

describe('keys', () => {
  it('that are not given are told apart from tampering', async () => {
    const log = await openAuditLog({ path: path(), secret: 'the next secret', previousSecrets: [SECRET] });
    await log.close();
    const old = [...KEYS.keys()][0];
    expect(await verify(deriveKeys(['the next secret']))).toMatchObject({
      ok: false,
      verified: 1,
      bad: 0,
      unverifiable: new Map([[old, 30]]),
    });
    expect(await verify(deriveKeys(['the next secret', SECRET]))).toMatchObject({
      ok: true,
      verified: 31,
      bad: 0,
    });
  });

  it('that are not given still let a dropped line be seen', async () => {
    edit((lines) => lines.toSpliced(4, 1));
    expect(at(await verify(deriveKeys(['another'])))).toBe('audit.log:5 dropped');
  });
});

describe('what was in the file before the log', () => {
  it('is left alone, and named by the header as not protected', async () => {
    const file = join(directory, 'other.log');
    writeFileSync(file, 'a line\nanother\n');
    const log = await openAuditLog({ path: file, secret: SECRET });
    await log.close();
    expect(await verifyAudit(file, KEYS)).toMatchObject({ ok: true, verified: 1 });
    appendFileSync(file, 'a line\n');
    expect((await verifyAudit(file, KEYS)).first).toMatchObject({ kind: 'changed', line: 4 });
  });
});
