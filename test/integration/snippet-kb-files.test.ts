import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';

import { silentLog } from '../../src/core/log.ts';
import type { Tool } from '../../src/core/tool.ts';
import { createSnippetKb } from '../../src/tools/snippet-kb/tool.ts';
import type { CodeHostStandinOptions } from '../standins/code-host.ts';
import type { StandinFile } from '../standins/code-host-gists.ts';
import { type Json, type World, callTool, failureOf, startCodeHost } from './code-host-world.ts';

let world: World;
let kb: Tool;
async function start(files: Record<string, StandinFile>, options: Partial<CodeHostStandinOptions> = {}) {
  world = await startCodeHost({
    gists: [{ id: 'n1', owner: 'me', description: 'Files [snippet-kb]', files }],
    ...options,
  });
  kb = createSnippetKb(world.codeHost(), { all: false }, silentLog, () => world.clock.ms);
}
afterEach(async () => {
  await kb.close();
  await world.close();
});
const get = async (more: object = {}): Promise<Json> =>
  (await callTool(kb, { action: 'get', id: 'n1', ...more })).note;
const search = (query: string): Promise<Json> => callTool(kb, { action: 'search', query });

describe('a file of 2 MB, which the API gives in part', () => {
  const large = `${'0123456789'.repeat(200_000)}the end`;

  it('is read whole, shown in parts of 100,000 characters, and the cut is named', async () => {
    await start({ 'large.txt': large, 'larger.txt': `${large}, no!`, 'small.txt': 'small' });
    const note = await get();
    expect(note.files['small.txt']).toBe('small');
    expect(note.files['large.txt']).toHaveLength(99_995);
    expect(note.not_shown).toEqual({
      'large.txt': 'characters 0 to 99995 of 2000007 are shown; read on with file and offset',
      'larger.txt': '2000012 characters; read it with file',
    });
    const rest = await get({ file: 'large.txt', offset: 1_999_990 });
    expect(rest.files).toEqual({ 'large.txt': '0123456789the end' });
    expect(rest.not_shown).toEqual({
      'large.txt': 'characters 1999990 to 2000007 of 2000007 are shown',
    });
    expect((await get({ file: 'small.txt' })).files).toEqual({ 'small.txt': 'small' });
  });

  it('is not written back in part: an update of another file leaves it whole', async () => {
    await start({ 'large.txt': large, 'small.txt': 'small' });
    await callTool(kb, { action: 'update', id: 'n1', files: { 'small.txt': 'new' } });
    expect((await get({ file: 'large.txt', offset: 2_000_000 })).files).toEqual({ 'large.txt': 'the end' });
  });

  it('is searched as far as the index holds it, which the answer says', async () => {
    await start({ 'large.txt': `needle ${'x'.repeat(40)} ${large}` });
    expect(await search('needle')).toMatchObject({
      total: 1,
      incomplete: '1 large notes were searched in part: n1',
    });
  });

  it('is fetched from another host without the token', async () => {
    // The address of a raw file is all that host needs; a token sent there would be in its logs.
    const seen: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.end('from the other host');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    await start({ 'large.txt': large }, { rawOrigin: `http://127.0.0.1:${port}` });
    expect((await get()).files).toEqual({ 'large.txt': 'from the other host' });
    expect(seen).toEqual([undefined]);
    await new Promise((resolve) => other.close(resolve));
  });
});

it('a redirect of a raw file is followed, without the token', async () => {
  const seen: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.end('elsewhere');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  await start({ 'large.txt': 'x'.repeat(1_000_001) });
  await search('x');
  world.control.fail('code_host', {}, { status: 302, headers: { location: `http://127.0.0.1:${port}/x` } });
  expect((await get()).files).toEqual({ 'large.txt': 'elsewhere' });
  expect(seen).toEqual([undefined]);
  await new Promise((resolve) => other.close(resolve));
});

it('a file above 10 MB is not fetched, and named with the way to it', async () => {
  await start({ 'huge.txt': 'x'.repeat(11_000_000), 'small.txt': 'small' });
  const note = await get();
  expect(note.files).toEqual({ 'small.txt': 'small' });
  expect(note.not_shown).toEqual({
    'huge.txt': '11.0 MB: above 10 MB only git has it, at https://gist.example/n1.git',
  });
  expect(world.asked().filter((line) => line.includes('/raw/'))).toEqual([]);
});

it('binary files are named, not shown', async () => {
  await start({
    'logo.png': { base64: 'iVBORw0KGgo=' },
    'blob.dat': 'PK\u0003\u0004\u0000\u0000',
    'latin.txt': '\ufffd\ufffdx\ufffd',
    'note.md': 'text',
  });
  const note = await get();
  expect(note.files).toEqual({ 'note.md': 'text' });
  expect(note.not_shown).toEqual({
    'logo.png': 'binary (image/png), 8 bytes',
    'blob.dat': 'binary, 6 bytes',
    'latin.txt': 'binary, 10 bytes',
  });
});

it('invisible characters are left out of text, titles, tags and excerpts, and counted', async () => {
  await start({ 'a.md': 'Buy milk\u{e0069}\u{e0067}\u{e006e}\u200b and bread' });
  await world.elsewhere('PATCH', '/gists/n1', { description: 'Shop\u200bping [snippet-kb: fo\u2060od]' });
  expect(await get()).toMatchObject({
    title: 'Shopping',
    tags: ['food'],
    files: { 'a.md': 'Buy milk and bread' },
    not_shown: { 'a.md': '7 invisible characters are left out' },
  });
  expect((await search('milk')).notes[0].excerpt).toBe('a.md: Buy milk and bread');
});

it('of 350 files the first 300 are shown, and the rest is named', async () => {
  const names = Array.from({ length: 350 }, (_, at) => `f${String(at).padStart(3, '0')}`);
  await start(Object.fromEntries(names.map((name) => [name, 'x'])));
  const note = await get();
  expect(Object.keys(note.files)).toHaveLength(300);
  expect(note.not_shown).toEqual({
    '…': 'files after the first 300: only git has them, at https://gist.example/n1.git',
  });
  // A file that isn't listed may be there all the same.
  await callTool(kb, { action: 'update', id: 'n1', files: { f349: null } });
  expect((await failureOf(get({ file: 'f999' }))).details.hint).toContain('f000, f001');
});
