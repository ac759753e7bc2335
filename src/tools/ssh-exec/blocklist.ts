import { shellTokens } from './shell-words.ts';

/** Nesting of quotes that is followed: `sh -c "sh -c 'r\\m'"`. Each level only removes characters. */
const DEEPEST = 5;
/** Brace expressions that are expanded in a text, and characters that one may become; more is left as written. */
const MOST_BRACES = 64;
const LONGEST_EXPANSION = 4_096;

const FIELD_SEPARATOR = /\$\{IFS[^}]{0,256}\}|\$IFS(?![A-Za-z0-9_])/g;
/** What usually expands to nothing, and is put into words for that reason: `r$@m`, `r${x}m`, `r$()m`. */
const USUALLY_EMPTY = /``|\$\(\s{0,256}\)|\$\{[^}]{0,256}\}|\$[A-Za-z_]\w*|\$[0-9@*]/g;

/**
 * The first entry of the blocklist that a text contains: as given, and as a shell would read it (quotes,
 * backslashes and line continuations removed, white space folded, `$IFS` a blank, empty expansions gone,
 * braces expanded), through several levels of quoting.
 */
export function blockedBy(text: string, rules: readonly string[]): string | undefined {
  if (rules.length === 0) return undefined;
  const prepared = rules.map((rule) => ({ rule, folded: foldedRule(rule) }));
  for (const form of forms(text)) {
    const match = prepared.find(
      ({ rule, folded }) => form.includes(rule) || (folded.trim() !== '' && form.includes(folded)),
    );
    if (match) return match.rule;
  }
  return undefined;
}

function* forms(text: string): Generator<string> {
  yield text;
  const spaced = text.replaceAll(FIELD_SEPARATOR, ' ');
  const starts = new Set([spaced, spaced.replaceAll(USUALLY_EMPTY, '')]);
  for (const start of starts) {
    let form = start;
    for (let depth = 0; depth < DEEPEST; depth += 1) {
      const read = fold(form);
      // Blanks at both ends, so that an entry that ends in one ("dd ") also matches the last word.
      yield ` ${read} `;
      const expanded = expandBraces(read);
      if (expanded !== read) yield ` ${fold(expanded)} `;
      if (read === form) break;
      form = read;
    }
  }
}

function fold(text: string): string {
  return shellTokens(text)
    .map((token) => token.text)
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** An entry in the folded form, with a blank kept at an end where its author wrote one. */
function foldedRule(rule: string): string {
  const folded = fold(rule);
  return `${/^\s/.test(rule) ? ' ' : ''}${folded}${/\s$/.test(rule) ? ' ' : ''}`;
}

function expandBraces(text: string): string {
  let count = 0;
  return text
    .split(' ')
    .map((word) => {
      let words = [word];
      while (count < MOST_BRACES) {
        count += 1;
        const next = words.flatMap(expandOnce);
        if (next.length === words.length || next.join(' ').length > LONGEST_EXPANSION) break;
        words = next;
      }
      return words.join(' ');
    })
    .join(' ');
}

/** `a{b,c}d` to `abd`, `acd`; the innermost braces first, and a word without any as it is. */
function expandOnce(word: string): string[] {
  const close = word.search(/\}/);
  const open = close === -1 ? -1 : word.lastIndexOf('{', close);
  const list = open === -1 ? [] : word.slice(open + 1, close).split(',');
  if (list.length < 2) return [word];
  return list.map((entry) => word.slice(0, open) + entry + word.slice(close + 1));
}
