/**
 * Characters that a person does not see and a model reads all the same: text from outside can carry instructions
 * in them. Unicode tags and the supplementary variation selectors (which spell whole hidden messages), zero-width
 * and bidirectional controls, fillers that look like nothing, and control characters but for tab and line ends.
 */
const HIDDEN =
  /(?![\t\n\r])\p{Cc}|(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]/gu;

/**
 * Joiners and the two common variation selectors shape emoji and several scripts, so one of them after a visible
 * character stays. In a row they shape nothing.
 */
const STRAY_JOINERS = /(^|\s|\u200c|\u200d|\ufe0e|\ufe0f)(?:\u200c|\u200d|\ufe0e|\ufe0f)+/gu;

/** The text without its invisible characters; what can be seen is unchanged. */
export function stripInvisible(text: string): string {
  return text
    .replaceAll(/[\u2028\u2029]/gu, '\n')
    .replaceAll(HIDDEN, '')
    .replaceAll(STRAY_JOINERS, '$1');
}
