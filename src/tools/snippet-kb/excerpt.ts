import { fold } from './words.ts';

const AROUND = 80;
const MOST_WINDOWS = 3;

/**
 * The places of a text where words stand, up to three windows of some 160 characters, joined by an ellipsis.
 * Undefined where none of the words stands in the text.
 * @param words folded, as the index has them
 */
export function excerptOf(text: string, words: readonly string[]): string | undefined {
  // Folding keeps every character's place, so that a place in the folded text is one in the text.
  const folded = fold(text);
  const places = words
    .map((word) => ({ at: folded.indexOf(word), length: word.length }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  const windows: { from: number; to: number }[] = [];
  for (const { at, length } of places) {
    const last = windows.at(-1);
    const from = Math.max(0, at - AROUND);
    const to = Math.min(text.length, at + length + AROUND);
    if (last && from <= last.to) last.to = to;
    else if (windows.length < MOST_WINDOWS) windows.push({ from, to });
  }
  if (windows.length === 0) return undefined;
  const pieces = windows.map(({ from, to }) => {
    const start = from === 0 ? 0 : afterBlank(text, from);
    const end = to === text.length ? to : beforeBlank(text, to);
    return `${start > 0 ? '…' : ''}${text.slice(start, end).replaceAll(/\s+/g, ' ').trim()}${end < text.length ? '…' : ''}`;
  });
  return pieces.join(' ');
}

/** The start of a word near `at`, so that an excerpt doesn't begin in the middle of one. */
function afterBlank(text: string, at: number): number {
  const blank = text.slice(at, at + 20).search(/\s/);
  return blank < 0 ? at : at + blank + 1;
}

function beforeBlank(text: string, at: number): number {
  const piece = text.slice(at - 20, at);
  const blank = /\s\S*$/.exec(piece)?.index;
  return blank === undefined ? at : at - 20 + blank;
}
