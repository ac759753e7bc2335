import type { Budget } from './budget.ts';
import { shellTokens } from './shell-words.ts';

/** Levels of quoting in which assignments are looked for. */
const DEEPEST = 3;
/** A text that grows beyond this while variables are put in is left as it is: `a=$a$a` doubles each time. */
const MOST_GROWTH = 4_096;
/** Up to here a text is read as a whole. */
const SHORT = 8 * 1024;
/** What is done for each costs more than its few characters tell. */
const STEPS_AN_ASSIGNMENT = 24;
/** Words of a loop's list that are put in. */
const LONGEST_LIST = 64;

const ASSIGNMENT = /^([A-Za-z_]\w*)(\+?)=/;
const SETS = /([A-Za-z_]\w{0,255})\+?=|\bfor\s{1,64}([A-Za-z_]\w{0,255})/g;
const USE = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g;
/** `${x:-word}`: the word, since what is put into a command that way is seldom set. */
const DEFAULT = /\$\{\w{1,64}:?[-=+]([^{}]{0,256})\}/g;
/** Substitutions whose output is their arguments, or a path that ends in one. */
const SPEAKS = /(?:echo|printf|which|command\s{1,8}-v|type\s{1,8}-[pP])\s/;
const SPOKEN = new RegExp(
  String.raw`\$\(\s{0,64}${SPEAKS.source}([^()\x60]{0,1024})\)|\x60\s{0,64}${SPEAKS.source}([^()\x60]{0,1024})\x60`,
  'g',
);
/** Literals that a program joins: `'r'+'m'`, `"r" . "m"`; and the items of a list: `['rm', '-rf']`. */
const JOINED = /\\?["']\s{0,16}(?:\+|\.{1,2})\s{0,16}\\?["']/g;
const LISTED = /\\?["']\s{0,16},\s{0,16}\\?["']/g;

const ESCAPE = /(?<!\\)\\{1,16}(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|0?([0-3][0-7]{2})|0?([0-7]{2}))/g;
/** Begins as one does whose first byte is a printable character. */
const BASE64 = /(?<![\w+/-])[A-Za-f][\w+/-]{7,}={0,2}/g;
const FIRST_BYTES = 8;
const HEX = /\b(?:0x)?(?:[\dA-Fa-f]{2}[ :]?){3,}[\dA-Fa-f]{2}\b/g;
const TEXT = /^[\t\n\r -~]{4,}$/;
const TEXT_OR_NUL = /^[\t\n\r -~\0]*$/;

/**
 * A command with what it says itself put in place: variables that it assigns, `${x:-word}`, and substitutions that
 * only repeat their arguments (`$(echo word)`). Not a shell: loops, functions and other programs are not run.
 */
export function withOwnValues(text: string, budget: Budget): string {
  if (!/[$`]/.test(text)) return text;
  let out = text;
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    const said = out
      .replaceAll(DEFAULT, '$1')
      .replaceAll(SPOKEN, (_whole, dollar?: string, tick?: string) => spoken(dollar ?? tick ?? ''));
    const values = new Map<string, string>();
    const setting = settingPart(said);
    if (setting !== '') collect(setting, values, DEEPEST, budget);
    const next = putIn(said, values, budget);
    if (next === out) break;
    out = next;
  }
  return out;
}

/** Adjacent literals of another program's text made one: `'r'+'m'`, `['rm', '-rf']`. */
export function withJoinedLiterals(text: string): string {
  return text.replaceAll(JOINED, '').replaceAll(LISTED, ' ');
}

/** Character escapes (`\x72`, `\162`, `\0162`, `\u0072`) resolved, as `printf`, `echo -e` and most languages do. */
export function withoutEscapes(text: string): string {
  return text.replaceAll(ESCAPE, (whole, hex?: string, unicode?: string, octal?: string, short?: string) => {
    const eight = octal ?? short;
    const code = eight === undefined ? Number.parseInt(hex ?? unicode ?? '', 16) : Number.parseInt(eight, 8);
    return Number.isNaN(code) ? whole : String.fromCodePoint(code);
  });
}

/** Readable texts that stand in a text as base64 (also of UTF-16) or hexadecimal digits, each once. */
export function encodedTexts(text: string): Set<string> {
  const found = new Set<string>();
  const add = (bytes: Buffer) => {
    const decoded = bytes.toString('latin1').replaceAll('\0', '');
    if (TEXT.test(decoded)) found.add(decoded);
  };
  for (const [word] of text.matchAll(BASE64)) {
    // Most are names, which the beginning tells.
    const begin = Buffer.from(word.slice(0, FIRST_BYTES), 'base64').toString('latin1');
    if (TEXT_OR_NUL.test(begin)) add(Buffer.from(word, 'base64'));
  }
  for (const [digits] of text.matchAll(HEX)) add(Buffer.from(digits.replaceAll(/^0x|[ :]/g, ''), 'hex'));
  return found;
}

/** The part of a text that sets a variable which it uses; of a long one those lines alone. */
function settingPart(text: string): string {
  const used = new Set(Array.from(text.matchAll(USE), ([, bare, braced]) => bare ?? braced ?? ''));
  const sets = (part: string) =>
    Array.from(part.matchAll(SETS)).some(([, assigned, loop]) => used.has(assigned ?? loop ?? ''));
  if (used.size === 0) return '';
  if (text.length <= SHORT) return sets(text) ? text : '';
  return text.split('\n').filter(sets).join('\n');
}

function collect(text: string, values: Map<string, string>, depth: number, budget: Budget): void {
  const tokens = shellTokens(text, budget);
  for (const [at, token] of tokens.entries()) {
    if (token.kind !== 'word') continue;
    // In the shape, since a quoted name is none: `sh -c 'a=z; …'`.
    const [begin = '', name = '', more] = ASSIGNMENT.exec(token.shape) ?? [];
    const next = tokens[at + 1];
    if (name !== '') {
      budget.spend(STEPS_AN_ASSIGNMENT);
      const value = token.text.slice(begin.length);
      const before = more === '+' ? (values.get(name) ?? '') : '';
      values.set(name, before.slice(0, MOST_GROWTH) + putIn(value, values, budget).slice(0, MOST_GROWTH));
    } else if (token.text === 'for' && next?.kind === 'word') {
      budget.spend(LONGEST_LIST);
      values.set(next.text, listAfter(tokens, at + 2));
    } else if (depth > 0 && /[\s;]/.test(token.text) && token.text.includes('=')) {
      collect(token.text, values, depth - 1, budget);
    }
  }
}

/** The words of `in a b c`. */
function listAfter(tokens: ReturnType<typeof shellTokens>, start: number): string {
  const words: string[] = [];
  for (let at = start + 1; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.kind !== 'word' || words.length === LONGEST_LIST) break;
    words.push(token.text);
  }
  return words.join(' ').slice(0, MOST_GROWTH);
}

function putIn(text: string, values: ReadonlyMap<string, string>, budget: Budget): string {
  if (values.size === 0 || !text.includes('$')) return text;
  budget.spend(text.length / 4);
  let room = text.length + MOST_GROWTH;
  return text.replaceAll(USE, (whole, bare?: string, braced?: string) => {
    const value = values.get(bare ?? braced ?? '');
    if (value === undefined || value.length > room) return whole;
    room -= value.length;
    budget.spend(value.length);
    return value;
  });
}

/** The arguments without options and a format of strings alone. */
function spoken(text: string): string {
  return text
    .trimStart()
    .replace(/^(?:-[neE]+\s+)+/, '')
    .replace(/^(["']?)(?:%[sb])+(?:\\n)?\1\s+/, '')
    .trim();
}
