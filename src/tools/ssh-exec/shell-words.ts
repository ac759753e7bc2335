import type { Budget } from './budget.ts';

/** A word of a shell command, quotes and backslashes removed; variables and substitutions stay as written. */
export interface Word {
  readonly kind: 'word';
  readonly text: string;
  /** `text` with each character that was quoted replaced by NUL: what the shell would still expand. */
  readonly shape: string;
  /** Names of the variables it uses: `HOME`, `1`, `@`. */
  readonly variables: readonly string[];
  /** Holds `$(…)`, backticks or an operation on a variable (`${x:-…}`): its value is made when it runs. */
  readonly computed: boolean;
}

export interface Operator {
  readonly kind: 'operator';
  /** `;`, `&&`, `|`, `>`, `(`, a line break, … */
  readonly text: string;
}

export type Token = Word | Operator;

const QUOTED = '\0';
const VARIABLE = /\$(?:([A-Za-z_]\w{0,255}|[0-9@*#?$!_-])|\{([A-Za-z_]\w{0,255}|[0-9@*#?$!_-])\})/y;
const OPERATOR = /[;&|<>]{1,8}|[()`\n]/y;
const PLAIN = /[^\s\\'"$;&|<>()`]+/y;
/** What double quotes and `$'` leave as it is. */
const PLAIN_QUOTED = /[^"\\$`]+/y;
const PLAIN_ANSI_C = /[^'\\]+/y;
const ANSI_C =
  /^\\(?:x([\dA-Fa-f]{1,2})|u([\dA-Fa-f]{1,4})|U([\dA-Fa-f]{1,8})|([0-7]{1,3})|c([\s\S])|([\s\S]))/;
const ANSI_C_NAMED: Record<string, string> = {
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  E: '\u001b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/**
 * Splits a command the way POSIX shells and bash do, as far as a policy that reads and never runs needs it:
 * `'…'`, `"…"`, `$'…'`, backslashes and line continuations are resolved, nothing is expanded. What isn't closed
 * runs to the end. Comments and here-documents are read as if they were commands: data may be judged too
 * strictly that way, but no command passes as data.
 *
 * @param script whether a comment ends with its line, and a here-document with its last line, whatever quotes they
 *   hold (`# it's`). What looks like one may be none (`$((1 << 2))`), so a policy has to look at both readings
 * @throws TooIntricate where that would take more than is left of the budget
 */
export function shellTokens(command: string, budget?: Budget, script = false): Token[] {
  budget?.spend(script ? 2 * command.length : command.length);
  return new Lexer(command, script).run();
}

class Lexer {
  readonly #source: string;
  readonly #script: boolean;
  #at = 0;
  readonly #tokens: Token[] = [];
  /** Places of the `<<` whose documents begin after the next line break. */
  #documents: number[] = [];
  #open = false;
  #text = '';
  #shape = '';
  #variables: string[] = [];
  #computed = false;

  constructor(source: string, script: boolean) {
    this.#source = source;
    this.#script = script;
  }

  run(): Token[] {
    while (this.#at < this.#source.length) this.#step();
    this.#endWord();
    return this.#tokens;
  }

  #step(): void {
    const char = this.#source[this.#at] ?? '';
    const next = this.#source[this.#at + 1];
    const comment = char === '#' && this.#script && !this.#open;
    if (!comment && this.#run(PLAIN, false)) return;
    if (char === ' ' || char === '\t' || char === '\r') {
      this.#endWord();
      this.#at += 1;
    } else if (char === '\\') {
      this.#escaped();
    } else if (char === "'") {
      this.#at += 1;
      this.#add(this.#until("'"), true);
    } else if (char === '$' && next === "'") {
      this.#at += 2;
      this.#ansiC();
    } else if (char === '"' || (char === '$' && next === '"')) {
      this.#at += char === '"' ? 1 : 2;
      this.#doubleQuoted();
    } else if (char === '$') {
      this.#dollar(false);
    } else if (comment) {
      this.#at += 1;
      this.#apart(this.#until('\n', false));
    } else if (!this.#operator(char)) {
      this.#add(char, false);
      this.#at += 1;
    }
  }

  /** Takes the characters that mean nothing there, at once. */
  #run(plain: RegExp, quoted: boolean): boolean {
    plain.lastIndex = this.#at;
    if (!plain.test(this.#source)) return false;
    this.#add(this.#source.slice(this.#at, plain.lastIndex), quoted);
    this.#at = plain.lastIndex;
    return true;
  }

  #escaped(): void {
    const char = this.#source[this.#at + 1];
    // A backslash before a line break joins the lines.
    if (char !== undefined && char !== '\n') this.#add(char, true);
    this.#at += 2;
  }

  #doubleQuoted(): void {
    this.#add('', true);
    while (this.#at < this.#source.length) {
      if (this.#run(PLAIN_QUOTED, true)) continue;
      const char = this.#source[this.#at] ?? '';
      if (char === '"') break;
      if (char === '\\' && /[$`"\\\n]/.test(this.#source[this.#at + 1] ?? '')) {
        this.#escaped();
      } else if (char === '$') {
        this.#dollar(true);
      } else {
        if (char === '`') this.#computed = true;
        this.#add(char, true);
        this.#at += 1;
      }
    }
    this.#at += 1;
  }

  #dollar(quoted: boolean): void {
    VARIABLE.lastIndex = this.#at;
    const variable = VARIABLE.exec(this.#source);
    if (variable) this.#variables.push(variable[1] ?? variable[2] ?? '');
    else if (/[({[]/.test(this.#source[this.#at + 1] ?? '')) this.#computed = true;
    this.#add(variable?.[0] ?? '$', quoted);
    this.#at += variable?.[0].length ?? 1;
  }

  #ansiC(): void {
    this.#add('', true);
    while (this.#at < this.#source.length) {
      if (this.#run(PLAIN_ANSI_C, true)) continue;
      const char = this.#source[this.#at] ?? '';
      if (char === "'") break;
      const escape = char === '\\' ? ANSI_C.exec(this.#source.slice(this.#at, this.#at + 10)) : null;
      this.#add(escape ? decodeAnsiC(escape) : char, true);
      this.#at += escape?.[0].length ?? 1;
    }
    this.#at += 1;
  }

  #operator(char: string): boolean {
    OPERATOR.lastIndex = this.#at;
    const text = OPERATOR.exec(this.#source)?.[0];
    if (text === undefined) return false;
    if (char === '`') {
      this.#computed = true;
      this.#open = true;
    }
    this.#endWord();
    this.#tokens.push({ kind: 'operator', text });
    this.#at += text.length;
    if (!this.#script) return true;
    if (text === '<<') this.#documents.push(this.#tokens.length);
    if (text === '\n') this.#readDocuments();
    return true;
  }

  #readDocuments(): void {
    for (const place of this.#documents) {
      const word = this.#tokens[place];
      const end = word?.kind === 'word' ? word.text.replace(/^-/, '') : '';
      this.#apart(this.#linesUntil(end));
    }
    this.#documents = [];
  }

  /** The lines before the one that is `end`, which is left out; all that is left where there is none. */
  #linesUntil(end: string): string {
    const from = this.#at;
    while (this.#at < this.#source.length) {
      const start = this.#at;
      if (this.#until('\n').trim() === end) return this.#source.slice(from, start);
    }
    return this.#source.slice(from);
  }

  /** Reads a text that a quote of its own cannot leave. */
  #apart(text: string): void {
    for (const token of new Lexer(text, false).run()) this.#tokens.push(token);
    this.#tokens.push({ kind: 'operator', text: '\n' });
  }

  #until(end: string, drop = true): string {
    const found = this.#source.indexOf(end, this.#at);
    const stop = found === -1 ? this.#source.length : found;
    const text = this.#source.slice(this.#at, stop);
    this.#at = stop + (drop ? 1 : 0);
    return text;
  }

  #add(text: string, quoted: boolean): void {
    this.#open = true;
    this.#text += text;
    this.#shape += quoted ? QUOTED.repeat(text.length) : text;
  }

  #endWord(): void {
    if (!this.#open) return;
    this.#tokens.push({
      kind: 'word',
      text: this.#text,
      shape: this.#shape,
      variables: this.#variables,
      computed: this.#computed,
    });
    this.#open = false;
    this.#text = '';
    this.#shape = '';
    this.#variables = [];
    this.#computed = false;
  }
}

function decodeAnsiC(escape: RegExpExecArray): string {
  const [, hex, short, long, octal, control, other = ''] = escape;
  const digits = hex ?? short ?? long;
  if (digits !== undefined) {
    const code = Number.parseInt(digits, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  }
  if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8) & 0xff);
  if (control !== undefined) return String.fromCodePoint((control.codePointAt(0) ?? 0) & 0x1f);
  return ANSI_C_NAMED[other] ?? other;
}
