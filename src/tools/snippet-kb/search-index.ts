import { excerptOf } from './excerpt.ts';
import { InvertedIndex, type Matching, type Ranked } from './inverted-index.ts';
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
  search(query: string, accept: (id: string) => boolean, limit: number): Ranked;
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
const TRIES: readonly Matching[] = [
  { all: true, fuzzy: false },
  { all: true, fuzzy: true },
  { all: false, fuzzy: true },
];

export function createSearchIndex({ perNote, total }: IndexBounds = BOUNDS): SearchIndex {
  const engine = new InvertedIndex();
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
    engine.remove(id);
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
      engine.put(id, [
        termsOf(title),
        tags.flatMap(termsOf),
        files.flatMap(({ name }) => termsOf(name)),
        kept.flatMap(({ text }) => termsOf(text)),
      ]);
      texts.set(id, kept);
      held += sizeOf(kept);
      if (!whole) cut.add(id);
    },
    search(query, accept, limit) {
      const words = [...new Set(termsOf(query))];
      let ranked: Ranked = { total: 0, hits: [] };
      for (const matching of TRIES) {
        ranked = engine.search(words, matching, accept, limit);
        if (ranked.total > 0) break;
      }
      return ranked;
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

/** The words of a text as the index has them. Keys, hashes and encoded blobs would only swell it. */
function termsOf(text: string): string[] {
  return wordsOf(text)
    .filter((word) => word.length <= LONGEST_WORD)
    .map((word) => fold(word.normalize('NFC')));
}

function sizeOf(files: readonly { text: string }[]): number {
  return files.reduce((sum, { text }) => sum + text.length, 0);
}
