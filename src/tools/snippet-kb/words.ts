/** Lower case without accents. Every character keeps its place: folded and unfolded text have the same length. */
export function fold(text: string): string {
  return text
    .replaceAll(/[^\0-\x7f]/gu, foldCharacter)
    .replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function foldCharacter(character: string): string {
  const [base = character] = character.normalize('NFD');
  const lower = base.toLowerCase();
  return lower.length === character.length ? lower : character;
}

const SEPARATORS = /[\s\p{Z}\p{P}\p{S}]+/u;
/** Scripts that write words without spaces between them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

let segmenter: Intl.Segmenter | undefined;

/** The words of a text, not folded. */
export function wordsOf(text: string): string[] {
  const words = text.split(SEPARATORS).filter((word) => word !== '');
  if (!UNSPACED.test(text)) return words;
  return words.flatMap((word) => {
    if (!UNSPACED.test(word)) return [word];
    segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' });
    return Array.from(segmenter.segment(word), ({ segment }) => segment);
  });
}
