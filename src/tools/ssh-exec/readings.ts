import type { Budget } from './budget.ts';
import { type Rules, bare, folded } from './rules.ts';
import { type Token, shellTokens } from './shell-words.ts';
import { withJoinedLiterals, withOwnValues, withoutEscapes } from './spellings.ts';

/** Nesting of quotes that is followed: `sh -c "sh -c 'r\\m'"`. Each level only removes characters. */
const DEEPEST = 5;
const DEEPEST_IN_LONG = 3;
/** Brace expressions that are expanded in a text, and characters that one may become; more is left as written. */
const MOST_BRACES = 64;
const LONGEST_EXPANSION = 4_096;
/** Up to here a text is read as a whole, quotes that span lines included; beyond, line by line. */
const SHORT = 8 * 1024;
/** A word of a long text with more than this is no command's. */
const LONGEST_BRACED = 256;
/** A longer line is read in pieces that overlap. */
const LONGEST_PIECE = 4 * 1024;
const OVERLAP = 1024;

const FIELD_SEPARATOR = /\$\{IFS[^{}]{0,256}\}|\$IFS(?![A-Za-z0-9_])/g;
/** What usually expands to nothing, and is put into words for that reason: `r$@m`, `r${x}m`, `r$()m`, `r$(:)m`. */
const USUALLY_EMPTY =
  /``|\$\(\s{0,256}(?:(?::|true|exit|<\s{0,16}\/dev\/null)\s{0,256})?\)|\$\{[^{}]{0,256}\}|\$[A-Za-z_]\w*|\$[0-9@*!]/g;
/** Characters that show nothing, such as a zero-width space. */
const INVISIBLE = /\p{Cf}/gu;
const MORE_THAN_ASCII = /[^\0-\x7f]/;
/** A word that another level of quoting reads differently. */
const NESTED = /[\s\\'"`;&|<>()]/;
const BRACE_LIST = /\{[^\s{}]{0,256},[^\s{}]{0,256}\}/;

/** A way to read a text: one line of it, and its tokens where commands can be told apart. */
export interface Reading {
  line: string;
  tokens?: readonly Token[];
}

/** A text as it looks: compatibility forms made plain, and what shows nothing left out. */
export function visible(text: string): string {
  return MORE_THAN_ASCII.test(text) ? text.normalize('NFKC').replaceAll(INVISIBLE, '') : text;
}

/**
 * The ways to read a text beside the one as it was given. Of a long text only those lines are read which may hold
 * an entry, and none twice.
 * @throws TooIntricate
 */
export function* readings(text: string, rules: Rules, budget: Budget): Generator<Reading> {
  const spaced = text.includes('$') ? text.replaceAll(FIELD_SEPARATOR, ' ') : text;
  const decoded = spaced.includes('\\') ? withoutEscapes(spaced) : spaced;
  const starts = new Set([
    spaced,
    withoutEmpty(spaced),
    withoutEmpty(withOwnValues(spaced, budget)),
    withJoinedLiterals(spaced),
    decoded,
    withoutEmpty(withOwnValues(decoded, budget)),
  ]);
  const seen = new Set<string>();
  if (text.length > SHORT) {
    const forms = new Set<string>();
    for (const start of starts) {
      yield { line: folded(start.replaceAll(/\\\n|['"\\]+/g, '')) };
      for (const piece of suspects(start, rules, seen)) yield* levels(piece, DEEPEST_IN_LONG, forms, budget);
    }
  } else {
    for (const start of starts) yield* levels(start, DEEPEST, seen, budget);
  }
}

function withoutEmpty(text: string): string {
  return /[$`]/.test(text) ? text.replaceAll(USUALLY_EMPTY, '') : text;
}

/** The lines in which a reading might find an entry, each once. */
function* suspects(text: string, rules: Rules, seen: Set<string>): Generator<string> {
  const globbed = globPattern(rules);
  const whole = text.includes('\\\n') ? text.replaceAll('\\\n', '') : text;
  const lines = whole.split('\n');
  const bareLines = bare(whole).split('\n');
  for (const [at, line] of lines.entries()) {
    const bareLine = bareLines[at] ?? '';
    if (bareLine === '') continue;
    const braced = hasBraceList(line);
    for (const piece of line.length > LONGEST_PIECE ? pieces(line) : [line]) {
      const may =
        (piece === line ? rules.mayBegin(bareLine) : rules.mayBegin(bare(piece))) ||
        (braced && BRACE_LIST.test(piece)) ||
        /\$'[^']*\\/.test(piece) ||
        (/[*?[]/.test(piece) && globbed.test(piece.replaceAll(/['"\\]+/g, '')));
      if (!may || seen.has(piece)) continue;
      seen.add(piece);
      yield piece;
    }
  }
}

function* pieces(line: string): Generator<string> {
  for (let at = 0; at < line.length; at += LONGEST_PIECE - OVERLAP) yield line.slice(at, at + LONGEST_PIECE);
}

/** A word short enough for its braces to be expanded. */
function hasBraceList(line: string): boolean {
  if (!line.includes('{') || !line.includes(',')) return false;
  return line.split(/\s+/).some((word) => word.length <= LONGEST_BRACED && BRACE_LIST.test(word));
}

/** A glob whose beginning may be that of an entry's program. */
function globPattern({ initials }: Rules): RegExp {
  const own = initials.replaceAll(/[\\\]^-]/g, String.raw`\$&`);
  const end = String.raw`\s/;&|()<>\x60`;
  const begins = String.raw`(?:[${own}][^${end}]{0,62}[*?[]|[*?[][^${end}]{0,62}\w)`;
  return new RegExp(`(?:^|[${end}=:{])${begins}`);
}

function* levels(start: string, deepest: number, seen: Set<string>, budget: Budget): Generator<Reading> {
  let form = start;
  for (let depth = 0; depth < deepest && !seen.has(form); depth += 1) {
    seen.add(form);
    const tokens = shellTokens(form, budget);
    const read = tokens.map((token) => token.text).join(' ');
    const line = folded(read);
    // Blanks at both ends, so that an entry that ends in one ("dd ") also matches the last word.
    yield { line: ` ${line} `, tokens };
    const expanded = expandBraces(line, budget);
    if (expanded !== line) {
      const again = shellTokens(expanded, budget);
      yield { line: ` ${folded(again.map((token) => token.text).join(' '))} `, tokens: again };
    }
    if (!tokens.some(({ kind, text }) => kind === 'word' && NESTED.test(text))) return;
    form = read;
  }
}

function expandBraces(text: string, budget: Budget): string {
  if (!text.includes('{') || !text.includes(',')) return text;
  let count = 0;
  return text
    .split(' ')
    .map((word) => {
      let words = [word];
      while (count < MOST_BRACES && word.includes('{')) {
        const next = expandOnce(words, budget);
        if (next === undefined) break;
        count += 1;
        words = next;
      }
      return words.join(' ');
    })
    .join(' ');
}

/**
 * `a{b,c}d` to `abd`, `acd`, in each word its innermost braces that close first.
 * @returns undefined where there is nothing to expand, or too much would come of it
 */
function expandOnce(words: readonly string[], budget: Budget): string[] | undefined {
  const next: string[] = [];
  let length = 0;
  for (const word of words) {
    budget.spend(word.length);
    const close = word.indexOf('}');
    const open = close === -1 ? -1 : word.lastIndexOf('{', close);
    const list = open === -1 ? [] : word.slice(open + 1, close).split(',');
    if (list.length < 2) next.push(word);
    else for (const entry of list) next.push(word.slice(0, open) + entry + word.slice(close + 1));
    length += Math.max(1, list.length) * (word.length - (close - open)) + (close - open);
    if (length > LONGEST_EXPANSION) return undefined;
  }
  return next.length === words.length ? undefined : next;
}
