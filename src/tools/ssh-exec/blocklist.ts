import { simpleCommands, runsAs } from './simple-commands.ts';
import { type Token, shellTokens } from './shell-words.ts';
import { encodedTexts, withJoinedLiterals, withOwnValues, withoutEscapes } from './spellings.ts';

/** Nesting of quotes that is followed: `sh -c "sh -c 'r\\m'"`. Each level only removes characters. */
const DEEPEST = 5;
/** Encodings within encodings that are followed. */
const DEEPEST_ENCODING = 2;
/** Brace expressions that are expanded in a text, and characters that one may become; more is left as written. */
const MOST_BRACES = 64;
const LONGEST_EXPANSION = 4_096;

const FIELD_SEPARATOR = /\$\{IFS[^}]{0,256}\}|\$IFS(?![A-Za-z0-9_])/g;
/** What usually expands to nothing, and is put into words for that reason: `r$@m`, `r${x}m`, `r$()m`, `r$(:)m`. */
const USUALLY_EMPTY =
  /``|\$\(\s{0,256}(?::|true|exit|<\s{0,16}\/dev\/null)?\s{0,256}\)|\$\{[^}]{0,256}\}|\$[A-Za-z_]\w*|\$[0-9@*!]/g;
/** Characters that show nothing, such as a zero-width space. */
const INVISIBLE = /\p{Cf}/gu;

interface Rule {
  /** As the operator wrote it. */
  rule: string;
  folded: string;
  words: readonly string[];
}

/** A way to read a text: one line of it, and its tokens where commands can be told apart. */
interface Reading {
  line: string;
  tokens?: readonly Token[];
}

/**
 * The first entry of the blocklist that a text contains: as given, and as a shell would read it (quotes,
 * backslashes and line continuations removed, white space folded, `$IFS` a blank, empty expansions gone, variables
 * put in that the text itself assigns, braces expanded, redirections left out), through several levels of quoting,
 * and in base64, hexadecimal digits and character escapes. Options may stand apart and in another order (`rm -f -r`
 * for `rm -rf`), and a command may be a glob (`/bin/r?`).
 */
export function blockedBy(text: string, rules: readonly string[]): string | undefined {
  if (rules.length === 0) return undefined;
  const prepared = rules.map((rule): Rule => {
    const folded = foldedRule(rule);
    return { rule, folded, words: folded.trim() === '' ? [] : folded.trim().split(' ') };
  });
  for (const { line, tokens } of readings(text, DEEPEST_ENCODING)) {
    const match = prepared.find(
      ({ rule, folded }) => line.includes(rule) || (folded.trim() !== '' && line.includes(folded)),
    );
    if (match) return match.rule;
    for (const words of tokens ? simpleCommands(tokens) : []) {
      const plain = ` ${words.join(' ')} `;
      const found = prepared.find(
        ({ folded, words: wanted }) => wanted.length > 0 && (plain.includes(folded) || runsAs(words, wanted)),
      );
      if (found) return found.rule;
    }
  }
  return undefined;
}

function* readings(text: string, encodings: number): Generator<Reading> {
  yield { line: text };
  const visible = text.normalize('NFKC').replaceAll(INVISIBLE, '');
  const spaced = visible.replaceAll(FIELD_SEPARATOR, ' ');
  const decoded = withoutEscapes(spaced);
  const starts = new Set([
    spaced,
    spaced.replaceAll(USUALLY_EMPTY, ''),
    withOwnValues(spaced).replaceAll(USUALLY_EMPTY, ''),
    withJoinedLiterals(spaced),
    decoded,
    withOwnValues(decoded).replaceAll(USUALLY_EMPTY, ''),
  ]);
  const seen = new Set<string>();
  for (const start of starts) yield* levels(start, seen);
  if (encodings === 0) return;
  for (const inner of encodedTexts(visible)) yield* readings(inner, encodings - 1);
}

function* levels(start: string, seen: Set<string>): Generator<Reading> {
  let form = start;
  for (let depth = 0; depth < DEEPEST && !seen.has(form); depth += 1) {
    seen.add(form);
    const tokens = shellTokens(form);
    const read = tokens.map((token) => token.text).join(' ');
    const line = folded(read);
    // Blanks at both ends, so that an entry that ends in one ("dd ") also matches the last word.
    yield { line: ` ${line} `, tokens };
    const expanded = expandBraces(line);
    if (expanded !== line) {
      const again = shellTokens(expanded);
      yield { line: ` ${folded(again.map((token) => token.text).join(' '))} `, tokens: again };
    }
    form = read;
  }
}

function folded(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** An entry in the folded form, with a blank kept at an end where its author wrote one. */
function foldedRule(rule: string): string {
  const text = folded(
    shellTokens(rule)
      .map((token) => token.text)
      .join(' '),
  );
  return `${/^\s/.test(rule) ? ' ' : ''}${text}${/\s$/.test(rule) ? ' ' : ''}`;
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
