/** What a terminal acts on and does not show: colours, moves of the cursor, titles, the targets of links. */
// oxlint-disable-next-line no-control-regex -- escape sequences begin with one
const TERMINAL = /\u001b(?:\[[\x20-\x3f]*[\x40-\x7e]|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\))/gu;

/**
 * Characters that a person does not see and a model reads all the same: text from outside can carry instructions
 * in them. Unicode tags and the supplementary variation selectors (which spell whole hidden messages), zero-width
 * and bidirectional controls, fillers that look like nothing, and control characters. Tab, line ends and NUL stay: they separate, and where commands
 * end each name with NUL, names would run together without it.
 */
const HIDDEN =
  /(?![\0\t\n\r])\p{Cc}|(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]/gu;

/**
 * Joiners shape several scripts and, after a variation selector too, emoji; the two common selectors shape what can
 * be an emoji. Anywhere else, and in a row, they shape nothing: they split a word, or spell something.
 */
const STRAY_JOINERS =
  /(?<!(?:(?!\u200c|\u200d|\ufe0e|\ufe0f|\s)[^\0-\x7f])|\p{Extended_Pictographic}\ufe0f)[\u200c\u200d]|(?<!\p{Emoji})(?:\ufe0e|\ufe0f)/gu;

/** Most text is none of all this, and a body may have ten million characters. */
const NOT_PLAIN = /[^\t\n\r\x20-\x7e]/;

/** The text without its invisible characters; what can be seen is unchanged. */
export function stripInvisible(text: string): string {
  if (!NOT_PLAIN.test(text)) return text;
  return text
    .replaceAll(/[\u2028\u2029]/gu, '\n')
    .replaceAll(TERMINAL, '')
    .replaceAll(HIDDEN, '')
    .replaceAll(STRAY_JOINERS, '');
}
