import { shellTokens } from './shell-words.ts';

/** Levels of quoting in which assignments are looked for. */
const DEEPEST = 3;
/** A text that grows beyond this while variables are put in is left as it is: `a=$a$a` doubles each time. */
const MOST_GROWTH = 4_096;

const ASSIGNMENT = /^([A-Za-z_]\w*)(\+?)=/;
const USE = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g;
/** `${x:-word}`: the word, since what is put into a command that way is seldom set. */
const DEFAULT = /\$\{\w{1,64}:?[-=+]([^{}]{0,256})\}/g;
/** Substitutions whose output is their arguments, or a path that ends in one. */
const SPEAKS = /(?:echo|printf|which|command\s{1,8}-v|type\s{1,8}-[pP])\s{1,64}/;
const SPOKEN = new RegExp(
  String.raw`\$\(\s{0,64}${SPEAKS.source}([^()\x60]{0,1024})\)|\x60\s{0,64}${SPEAKS.source}([^()\x60]{0,1024})\x60`,
  'g',
);
/** Literals that a program joins: `'r'+'m'`, `"r" . "m"`; and the items of a list: `['rm', '-rf']`. */
const JOINED = /\\?["']\s{0,16}(?:\+|\.{1,2})\s{0,16}\\?["']/g;
const LISTED = /\\?["']\s{0,16},\s{0,16}\\?["']/g;

const ESCAPE = /(?<!\\)\\{1,16}(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|0?([0-3][0-7]{2})|0?([0-7]{2}))/g;
const BASE64 = /[\w+/-]{8,}={0,2}/g;
const HEX = /\b(?:0x)?(?:[\dA-Fa-f]{2}[ :]?){3,}[\dA-Fa-f]{2}\b/g;
const TEXT = /^[\t\n\r -~]{4,}$/;

/**
 * A command with what it says itself put in place: variables that it assigns, `${x:-word}`, and substitutions that
 * only repeat their arguments (`$(echo word)`). Not a shell: loops, functions and other programs are not run.
 */
export function withOwnValues(text: string): string {
  if (!/[$`]/.test(text)) return text;
  let out = text;
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    const said = out
      .replaceAll(DEFAULT, '$1')
      .replaceAll(SPOKEN, (_whole, dollar?: string, tick?: string) => spoken(dollar ?? tick ?? ''));
    const values = new Map<string, string>();
    collect(said, values, DEEPEST);
    const next = putIn(said, values);
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

/** Readable texts that stand in a text as base64 (also of UTF-16) or hexadecimal digits. */
export function encodedTexts(text: string): string[] {
  const found: string[] = [];
  const add = (bytes: Buffer) => {
    const decoded = bytes.toString('latin1').replaceAll('\0', '');
    if (TEXT.test(decoded)) found.push(decoded);
  };
  for (const [word] of text.matchAll(BASE64)) add(Buffer.from(word, 'base64'));
  for (const [digits] of text.matchAll(HEX)) add(Buffer.from(digits.replaceAll(/^0x|[ :]/g, ''), 'hex'));
  return found;
}

function collect(text: string, values: Map<string, string>, depth: number): void {
  const tokens = shellTokens(text);
  for (const [at, token] of tokens.entries()) {
    if (token.kind !== 'word') continue;
    // In the shape, since a quoted name is none: `sh -c 'a=z; …'`.
    const [begin = '', name = '', more] = ASSIGNMENT.exec(token.shape) ?? [];
    const next = tokens[at + 1];
    if (name !== '') {
      const value = token.text.slice(begin.length);
      const before = more === '+' ? (values.get(name) ?? '') : '';
      values.set(name, before + putIn(value, values).slice(0, MOST_GROWTH));
    } else if (token.text === 'for' && next?.kind === 'word') {
      values.set(next.text, listAfter(tokens, at + 2));
    } else if (depth > 0 && /[\s;]/.test(token.text) && token.text.includes('=')) {
      collect(token.text, values, depth - 1);
    }
  }
}

/** The words of `in a b c`. */
function listAfter(tokens: ReturnType<typeof shellTokens>, start: number): string {
  const words: string[] = [];
  for (let at = start + 1; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.kind !== 'word' || words.length === 64) break;
    words.push(token.text);
  }
  return words.join(' ').slice(0, MOST_GROWTH);
}

function putIn(text: string, values: ReadonlyMap<string, string>): string {
  if (values.size === 0) return text;
  let room = text.length + MOST_GROWTH;
  return text.replaceAll(USE, (whole, bare?: string, braced?: string) => {
    const value = values.get(bare ?? braced ?? '');
    if (value === undefined || value.length > room) return whole;
    room -= value.length;
    return value;
  });
}

/** The arguments without options and a format of strings alone. */
function spoken(text: string): string {
  return text
    .replace(/^(?:-[neE]+\s+)+/, '')
    .replace(/^(["']?)(?:%[sb])+(?:\\n)?\1\s+/, '')
    .trim();
}
