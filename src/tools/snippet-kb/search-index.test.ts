import { beforeEach, describe, expect, it } from 'vitest';

import { type SearchIndex, createSearchIndex } from './search-index.ts';

let index: SearchIndex;
const put = (id: string, title: string, text = '', tags: string[] = []) =>
  index.put({ id, title, tags, files: [{ name: `${id}.md`, text }] });
const ids = (query: string) => index.search(query, () => true, 10).hits.map(({ id }) => id);
const excerpt = (id: string, query: string) => {
  const [hit] = index.search(query, (other) => other === id, 10).hits;
  return hit && index.excerpt(id, hit.words);
};

beforeEach(() => {
  index = createSearchIndex();
});

describe('search', () => {
  it('ranks a title first, and the text after tags and file names', () => {
    put('text', 'one', 'router and many other words that make it a longer text');
    put('tag', 'two', 'other', ['router']);
    put('title', 'router', 'other');
    index.put({ id: 'name', title: 'three', tags: [], files: [{ name: 'router.md', text: 'other' }] });
    const found = ids('router');
    expect(found).toHaveLength(4);
    expect([found[0], found[3]]).toEqual(['title', 'text']);
  });

  it('wants all words, and any of them only where no note has all', () => {
    put('a', 'backup of the nas');
    put('b', 'backup of the laptop');
    expect(ids('backup nas')).toEqual(['a']);
    expect(ids('backup phone')).toEqual(['b', 'a'].sort());
  });

  it.each([
    ['the beginning of a word', 'rout', ['a']],
    ['a typing error', 'rauter', ['a']],
    ['accents left out', 'cafe', ['b']],
    ['accents put in', 'röuter', ['a']],
    ['decomposed accents', 'cafe\u0301', ['b']],
    ['a word of an unspaced script', '備份', ['c']],
    ['a part of a path', 'volume1', ['d']],
    ['nothing that is there', 'zebra', []],
    ['marks alone', '???', []],
  ])('finds by %s', (_, query, expected) => {
    put('a', 'router');
    put('b', 'Café');
    put('c', '每日備份資料');
    put('d', 'path', '/mnt/volume1/x');
    expect(ids(query)).toEqual(expected);
  });

  it('knows the newest text of a note and nothing of a removed one', () => {
    put('a', 'old words');
    put('a', 'new words');
    expect([ids('old'), ids('new')]).toEqual([[], ['a']]);
    index.remove('a');
    index.remove('a');
    expect(ids('new')).toEqual([]);
  });

  it('keeps to its bounds, and says which notes are cut', () => {
    index = createSearchIndex({ perNote: 10, total: 14 });
    put('a', 'first', '0123 5678 late');
    put('b', 'second', 'abc defg');
    put('c', 'third', 'x');
    expect([...index.cut]).toEqual(['a', 'b', 'c']);
    expect([ids('5678'), ids('late'), ids('third')]).toEqual([['a'], [], ['c']]);
    index.remove('a');
    put('c', 'third', 'x');
    expect([...index.cut]).toEqual(['b']);
  });
});

describe('excerpt', () => {
  it('shows the words in their place, in whole words, with the file', () => {
    const filler = 'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ';
    put('a', 'title', `${filler}${filler}the Router sleeps\nat night ${filler}${filler}`);
    expect(excerpt('a', 'router')).toBe(
      'a.md: …sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt the Router sleeps at night lorem ipsum dolor sit amet consectetur adipiscing elit sed do…',
    );
  });

  it('has a window for each place that is far from the others', () => {
    const gap = 'x '.repeat(200);
    put('a', 'title', `alpha ${gap} beta ${gap} end`);
    const found = excerpt('a', 'alpha beta') ?? '';
    expect(found.startsWith('a.md: alpha x x')).toBe(true);
    expect(found).toContain('… …x x');
    expect(found).toContain(' beta x');
  });

  it('finds the place of a word whose accents differ', () => {
    put('a', 'title', 'Zwei Grüße aus dem Café');
    expect(excerpt('a', 'grusse')).toBeUndefined();
    expect(excerpt('a', 'cafe')).toBe('a.md: Zwei Grüße aus dem Café');
  });

  it('is left out where only the title matches', () => {
    put('a', 'router', 'nothing of the kind');
    expect(excerpt('a', 'router')).toBeUndefined();
  });
});
