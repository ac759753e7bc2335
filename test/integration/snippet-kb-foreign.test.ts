// An assistant with the account's token could read and rewrite every gist its owner ever made, and other people's
// by id; a marker copied into somebody else's gist could make the server take it for a note.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { silentLog } from '../../src/core/log.ts';
import type { Tool } from '../../src/core/tool.ts';
import { createSnippetKb } from '../../src/tools/snippet-kb/tool.ts';
import type { StandinGist } from '../standins/code-host-gists.ts';
import { type Json, type World, callTool, failureOf, startCodeHost } from './code-host-world.ts';

const GISTS: StandinGist[] = [
  { id: 'note', owner: 'me', description: 'Mine [snippet-kb]', files: { a: 'shared word' } },
  { id: 'plain', owner: 'me', description: 'Work in progress', files: { a: 'shared word' } },
  { id: 'nameless', owner: 'me', description: '', files: { 'b.txt': 'shared word' } },
  { id: 'public', owner: 'me', description: 'Open [snippet-kb]', public: true, files: { a: 'shared word' } },
  { id: 'stranger', owner: 'stranger', description: 'Bait [snippet-kb]', files: { a: 'shared word' } },
];
const FOREIGN = ['plain', 'nameless', 'public', 'stranger'];

let world: World;
let kb: Tool;
const call = (input: object): Promise<Json> => callTool(kb, input);
const ids = (answer: Json): string[] => answer.notes.map(({ id }: Json) => id).sort();
const use = (all: boolean) => {
  kb = createSnippetKb(world.codeHost(), { all }, silentLog, () => world.clock.ms);
};

beforeEach(async () => {
  world = await startCodeHost({ gists: GISTS });
});
afterEach(async () => {
  await kb.close();
  await world.close();
});

describe('other gists than notes', () => {
  it('are neither listed, found, read, changed nor deleted', async () => {
    use(false);
    const before = await Promise.all(FOREIGN.map((id) => world.elsewhere('GET', `/gists/${id}`)));
    world.control.reset();

    expect(ids(await call({ action: 'list' }))).toEqual(['note']);
    expect(ids(await call({ action: 'search', query: 'shared' }))).toEqual(['note']);
    for (const id of FOREIGN) {
      for (const input of [
        { action: 'get' },
        { action: 'update', files: { a: 'x' } },
        { action: 'delete' },
      ]) {
        const error = await failureOf(call({ id, ...input }));
        expect(error.code).toBe('not_found');
        expect(error.message).toBe(`There is no note with the id "${id}".`);
        expect(error.details.hint).toContain('SNIPPET_KB_ALL=true');
      }
    }

    const touched = world.asked().filter((line) => FOREIGN.some((id) => line.includes(`/gists/${id}`)));
    expect(touched).toEqual([]);
    const after = await Promise.all(FOREIGN.map((id) => world.elsewhere('GET', `/gists/${id}`)));
    expect(after).toEqual(before);
  });

  it('become notes when the marker is added by hand', async () => {
    use(false);
    await call({ action: 'list' });
    await world.elsewhere('PATCH', '/gists/plain', { description: 'Work in progress [snippet-kb: work]' });
    expect((await call({ action: 'get', id: 'plain' })).note).toMatchObject({
      title: 'Work in progress',
      tags: ['work'],
    });
  });

  it('are out of reach again as soon as a note loses its marker', async () => {
    use(false);
    await call({ action: 'list' });
    await world.elsewhere('PATCH', '/gists/note', { description: 'Mine' });
    expect((await failureOf(call({ action: 'update', id: 'note', files: { a: 'x' } }))).code).toBe(
      'not_found',
    );
    expect((await world.elsewhere('GET', '/gists/note')).files.a.content).toBe('shared word');
  });
});

describe('with SNIPPET_KB_ALL', () => {
  it('all gists of the account are notes, other people’s still not', async () => {
    use(true);
    const answer = await call({ action: 'list' });
    expect(ids(answer)).toEqual(['nameless', 'note', 'plain', 'public']);
    expect(answer.notes.find(({ id }: Json) => id === 'nameless').title).toBe('b.txt');
    expect(ids(await call({ action: 'search', query: 'shared' }))).toEqual([
      'nameless',
      'note',
      'plain',
      'public',
    ]);
    expect((await failureOf(call({ action: 'get', id: 'stranger' }))).code).toBe('not_found');
  });

  it('a change leaves the description of a gist that is no note as it is', async () => {
    use(true);
    await call({ action: 'update', id: 'plain', files: { a: 'x' } });
    expect((await world.elsewhere('GET', '/gists/plain')).description).toBe('Work in progress');
    await call({ action: 'update', id: 'plain', title: 'Done' });
    expect((await world.elsewhere('GET', '/gists/plain')).description).toBe('Done');
  });
});
