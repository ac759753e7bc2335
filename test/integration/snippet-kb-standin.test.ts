// What the stand-in does where the tools' tests don't look: the demo's gists live in it across restarts.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

import { TOKENS, startCodeHost } from './code-host-world.ts';

const directory = mkdtempSync(join(tmpdir(), 'gists-'));
const file = join(directory, 'gists.json');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('keeps gists, their versions and deletions across restarts, and seeds a new file only', async () => {
  const seed = [{ id: 'seed', owner: 'me', description: 'seed', files: { a: 'x' } }];
  const first = await startCodeHost({ gists: seed, file });
  const made = await first.elsewhere('POST', '/gists', {
    description: 'made',
    files: { b: { content: 'y' } },
  });
  const changed = await first.elsewhere('PATCH', `/gists/${made.id}`, { files: { b: { content: 'z' } } });
  await first.elsewhere('DELETE', '/gists/seed');
  await first.close();

  const second = await startCodeHost({ gists: seed, file });
  const kept = await second.elsewhere('GET', `/gists/${made.id}`);
  expect(kept.files.b.content).toBe('z');
  expect(kept.history).toEqual(changed.history);
  expect(await second.elsewhere('GET', '/gists')).toHaveLength(1);
  expect(readdirSync(directory)).toEqual(['gists.json']);
  await second.close();
});

it('answers as the code host is known to', async () => {
  const world = await startCodeHost({
    gists: [{ id: 'g', owner: 'me', description: 'g', files: { a: 'x' } }],
  });
  const status = async (method: string, path: string, token: string, body?: object) => {
    const response = await fetch(world.url + path, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body && { body: JSON.stringify(body) }),
    });
    return [
      response.status,
      response.headers.get('x-oauth-scopes'),
      response.headers.get('x-accepted-oauth-scopes'),
    ];
  };
  const change = { files: { a: { content: 'y' } } };
  expect(await status('PATCH', '/gists/g', TOKENS.repoOnly, change)).toEqual([404, 'repo', 'gist']);
  expect(await status('PATCH', '/gists/g', TOKENS.fineGrained, change)).toEqual([403, null, null]);
  expect(await status('PATCH', '/gists/g', TOKENS.gistOnly, change)).toEqual([200, 'gist', 'gist']);
  expect(await status('PATCH', '/gists/g', TOKENS.full, { files: { a: { content: '' } } })).toEqual([
    422,
    'gist, repo',
    expect.any(String),
  ]);
  expect(await status('GET', '/gists/g', TOKENS.unknown)).toEqual([401, null, null]);
  expect(await status('GET', '/search/code?q=x&per_page=100&page=11', TOKENS.full)).toEqual([
    422,
    'gist, repo',
    expect.any(String),
  ]);
  expect(await status('GET', '/search/issues?q=x', TOKENS.full)).toEqual([
    422,
    'gist, repo',
    expect.any(String),
  ]);
  expect(await world.elsewhere('GET', '/user')).toMatchObject({ login: 'me' });
  // The description is no part of a commit, and writing the same again makes none.
  await world.elsewhere('PATCH', '/gists/g', { description: 'h' });
  await world.elsewhere('PATCH', '/gists/g', change);
  expect((await world.elsewhere('GET', '/gists/g')).history).toHaveLength(2);
  await world.close();
});
