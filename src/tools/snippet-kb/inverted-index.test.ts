import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { InvertedIndex, type Matching } from './inverted-index.ts';

type Fields = string[][];
type Model = Map<string, Fields>;

/** Words that begin alike, differ by a letter or two, or have nothing in common. */
const WORDS = ['net', 'network', 'networks', 'nettle', 'netwrok', 'nas', 'router', 'routers', 'raster', 'x'];
const BOOSTS = [4, 3, 2, 1];

/** The Levenshtein distance, from its definition. */
function distance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const [x, y] = [a.slice(1), b.slice(1)];
  if (a[0] === b[0]) return distance(x, y);
  return 1 + Math.min(distance(x, b), distance(a, y), distance(x, y));
}

/** What `candidate` is worth where `word` is looked for; 0 where it is another word. */
function weightOf(word: string, candidate: string, fuzzy: boolean): number {
  const { length } = candidate;
  if (candidate === word) return 1;
  if (word.length >= 3 && candidate.startsWith(word)) {
    return (0.375 * length) / (length + 0.3 * (length - word.length));
  }
  const wrong = distance(word, candidate);
  const allowed = fuzzy && word.length >= 5 ? Math.round(word.length * 0.2) : 0;
  return wrong <= allowed ? (0.45 * length) / (length + wrong) : 0;
}

/** BM25+ of one word in one document, added up over its fields. */
function worth(model: Model, fields: Fields, word: string): number {
  const all = [...model.values()];
  const having = all.filter((other) => other.flat().includes(word)).length;
  const idf = Math.log(1 + (all.length - having + 0.5) / (having + 0.5));
  return fields.reduce((sum, words, field) => {
    const count = words.filter((other) => other === word).length;
    if (count === 0) return sum;
    const average = all.reduce((total, other) => total + (other[field]?.length ?? 0), 0) / all.length;
    const bm25 = 0.5 + (count * 2.2) / (count + 1.2 * (0.3 + (0.7 * words.length) / average));
    return sum + (BOOSTS[field] ?? 0) * idf * bm25;
  }, 0);
}

/** The scores of the documents that match. */
function expected(model: Model, query: string[], { all, fuzzy }: Matching): Map<string, number> {
  const found = new Map<string, number>();
  for (const [id, fields] of model) {
    const own = new Set(fields.flat());
    const parts = query.map((word) =>
      [...own].reduce((sum, other) => {
        const weight = weightOf(word, other, fuzzy);
        return weight === 0 ? sum : sum + weight * worth(model, fields, other);
      }, 0),
    );
    const matched = parts.filter((part) => part > 0).length;
    if (matched === 0 || (all && matched < query.length)) continue;
    found.set(id, matched * parts.reduce((sum, part) => sum + part, 0));
  }
  return found;
}

const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 6 });
const change = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  fields: fc.option(fc.tuple(words, words, words, words), { nil: undefined, freq: 4 }),
});
const query = fc.uniqueArray(fc.constantFrom(...WORDS, 'nettwork', 'rout'), { minLength: 1, maxLength: 3 });

describe('InvertedIndex', () => {
  it('answers as its documents stand, after any changes, in the order of their scores', () => {
    fc.assert(
      fc.property(fc.array(change), query, fc.boolean(), fc.boolean(), (changes, asked, all, fuzzy) => {
        const index = new InvertedIndex();
        const model: Model = new Map();
        for (const { id, fields } of changes) {
          if (fields) index.put(id, fields);
          else index.remove(id);
          if (fields) model.set(id, fields);
          else model.delete(id);
        }
        const scores = expected(model, asked, { all, fuzzy });
        const { total, hits } = index.search(asked, { all, fuzzy }, () => true, 10);
        expect(total).toBe(scores.size);
        expect(hits.map(({ id }) => id).sort()).toEqual([...scores.keys()].sort());
        const inOrder = hits.map(({ id }) => scores.get(id) ?? 0);
        for (const [place, score] of inOrder.entries()) {
          expect(score).toBeLessThanOrEqual((inOrder[place - 1] ?? Infinity) + 1e-9);
        }
        for (const { id, words: matched } of hits) {
          const own = new Set(model.get(id)?.flat());
          const alike = [...own].filter((word) => asked.some((one) => weightOf(one, word, fuzzy) > 0));
          expect(matched.toSorted()).toEqual(alike.sort());
        }
      }),
      { numRuns: 500 },
    );
  });

  it('tells the best of what it was asked for, and how many there are', () => {
    const index = new InvertedIndex();
    for (let much = 1; much <= 100; much += 1) {
      const text = Array.from({ length: 100 }, (_, place) => (place < much ? 'net' : 'x'));
      index.put(String(much), [[], [], [], text]);
    }
    const accept = (id: string) => Number(id) % 50 !== 0;
    const { total, hits } = index.search(['net'], { all: true, fuzzy: false }, accept, 3);
    expect(total).toBe(98);
    expect(hits.map(({ id }) => id)).toEqual(['99', '98', '97']);
  });

  it('counts no further than a word matters', () => {
    const index = new InvertedIndex();
    const many = Array<string>(1_000).fill('net');
    index.put('a', [many, many, many, many]);
    index.put('b', [[], [], [], ['x']]);
    const [hit] = index.search(['net'], { all: true, fuzzy: false }, () => true, 1).hits;
    expect(hit).toEqual({ id: 'a', words: ['net'] });
    index.remove('a');
    expect(index.search(['net'], { all: true, fuzzy: false }, () => true, 1).total).toBe(0);
  });
});
