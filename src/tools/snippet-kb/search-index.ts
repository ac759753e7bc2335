import MiniSearch from 'minisearch';

import { excerptOf } from './excerpt.ts';
import { fold, wordsOf } from './words.ts';

/** A note as the index takes it. */
export interface IndexedNote {
  id: string;
  title: string;
  tags: readonly string[];
  /** Invisible characters already taken out. */
  files: readonly { name: string; text: string }[];
}

/** Ranked full text over notes, in memory only. */
export interface SearchIndex {
  /** Adds a note or replaces the one with its id. Its text is cut where it exceeds the bounds. */
  put(note: IndexedNote): void;
  remove(id: string): void;
  /** Ids of notes whose text is indexed only in part. */
  readonly cut: ReadonlySet<string>;
  /** Best first. Notes with all words; where there are none, with all but for typing errors; else with any. */
  search(query: string, accept: (id: string) => boolean): { id: string; words: string[] }[];
  excerpt(id: string, words: readonly string[]): string | undefined;
}

export interface IndexBounds {
  /** Characters of one note's text. */
  perNote: number;
  /** Characters of all notes' texts. */
  total: number;
}

const BOUNDS: IndexBounds = { perNote: 500_000, total: 64_000_000 };
const LONGEST_WORD = 64;

/** Typing errors are allowed only where nothing else is found: `web-12` is not a misspelt `web-11`. */
const fuzzy = (word: string) => (word.length >= 5 ? 0.2 : false);
const TRIES = [{ combineWith: 'AND' }, { combineWith: 'AND', fuzzy }, { fuzzy }] as const;

export function createSearchIndex({ perNote, total }: IndexBounds = BOUNDS): SearchIndex {
  const engine = new MiniSearch<{ id: string; title: string; tags: string; names: string; text: string }>({
    fields: ['title', 'tags', 'names', 'text'],
    tokenize: wordsOf,
    // Keys, hashes and encoded blobs would only swell the index.
    processTerm: (word) => (word.length > LONGEST_WORD ? null : fold(word.normalize('NFC'))),
    searchOptions: {
      boost: { title: 4, tags: 3, names: 2 },
      prefix: (word) => word.length >= 3,
    },
  });
  const texts = new Map<string, { name: string; text: string }[]>();
  const cut = new Set<string>();
  let held = 0;

  function keep(files: IndexedNote['files']): { kept: { name: string; text: string }[]; whole: boolean } {
    let left = Math.min(perNote, total - held);
    let whole = true;
    // Small files first, so that one large one does not take all of the note's room.
    const sorted = files.toSorted((a, b) => a.text.length - b.text.length);
    const kept = sorted.map(({ name, text }) => {
      const composed = text.normalize('NFC');
      const part = composed.length <= left ? composed : composed.slice(0, left);
      whole &&= part.length === composed.length;
      left -= part.length;
      return { name, text: part };
    });
    return { kept, whole };
  }

  function remove(id: string): void {
    const kept = texts.get(id);
    if (!kept) return;
    engine.discard(id);
    held -= sizeOf(kept);
    texts.delete(id);
    cut.delete(id);
  }

  return {
    cut,
    remove,
    put({ id, title, tags, files }) {
      remove(id);
      const { kept, whole } = keep(files);
      engine.add({
        id,
        title,
        tags: tags.join('\n'),
        names: files.map(({ name }) => name).join('\n'),
        text: kept.map(({ text }) => text).join('\n'),
      });
      texts.set(id, kept);
      held += sizeOf(kept);
      if (!whole) cut.add(id);
    },
    search(query, accept) {
      const filter = ({ id }: { id: string }) => accept(id);
      for (const options of TRIES) {
        const found = engine.search(query, { ...options, filter: filter as never });
        if (found.length > 0) return found.map(({ id, terms }) => ({ id: id as string, words: terms }));
      }
      return [];
    },
    excerpt(id, words) {
      for (const { name, text } of texts.get(id) ?? []) {
        const found = excerptOf(text, words);
        if (found !== undefined) return `${name}: ${found}`;
      }
      return undefined;
    },
  };
}

function sizeOf(files: readonly { text: string }[]): number {
  return files.reduce((sum, { text }) => sum + text.length, 0);
}
