import { posix } from 'node:path';

import type { Budget } from './budget.ts';
import { changesDirectory, logsIn, startsInside } from './directory-changes.ts';
import { type Token, type Word, shellTokens } from './shell-words.ts';
import { encodedTexts, withOwnValues, withoutEscapes } from './spellings.ts';

/** Levels of quoting that are followed into commands that shells are given to run. */
const DEEPEST = 5;
/** Programs that run text as a shell command, so that quoted words and stdin have to be read as commands. */
const SHELLS = new Set(
  (
    'sh bash dash ash ksh mksh zsh fish csh tcsh busybox eval trap su ssh watch ' +
    'runuser script flock parallel at batch crontab tmux screen'
  ).split(' '),
);
/** Commands that give variables values from elsewhere. */
const READS_VALUES = new Set('read mapfile readarray getopts select'.split(' '));
/** A word that may be read differently once its quotes are gone. */
const NESTED = /[\s\\'"$;&|<>()`]/;
const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=/;
const URL_ELSEWHERE = /\b(?:https?|wss?|ftp|ssh|git):\/\/[^\s'"]*/gi;
/** ASCII that ends a path inside a word: `if=/x`, `host:/x`, `@/x`, `open('/x')`. */
const SEPARATORS = /[\s!-,:-@[-^`{-}]+/;
/** Stands for an allowed directory whose name holds separators, a blank for instance. */
const ALLOWED_ROOT = '\0';

export interface PathQuestion {
  command: string;
  cwd: string | undefined;
  stdin: string | undefined;
}

/**
 * The first path that leaves the allowed directories, or may: a text that only the device can resolve
 * (`$VAR`, `$(…)`, backticks, globs and braces in paths, `~`, `cd` without a directory) counts as outside, and so
 * does `..` above the directory it starts from, because a link there may lead anywhere.
 *
 * Relative paths start from `cwd`, or from the directory of a leading `cd DIR &&`. Without either they start from
 * the login's home, which is not known to be inside: then a path with a slash is outside. A bare name (`ls notes`)
 * passes, since it cannot be told from any other argument.
 *
 * @param allowedDirs absolute directories, not empty
 * @throws TooIntricate where reading would take more than is left of the budget
 */
export function pathOutside(
  { command, cwd, stdin }: PathQuestion,
  allowedDirs: readonly string[],
  budget: Budget,
): string | undefined {
  const check = new Check(
    allowedDirs.map((dir) => withoutSlash(posix.normalize(dir))),
    budget,
  );
  if (check.allowsAll) return undefined;
  if (cwd !== undefined && !check.inside(cwd)) return cwd;
  const tokens = shellTokens(command, budget);
  const runsShell = usesShell(tokens);
  const follows = cwd !== undefined || startsInside(tokens, (path) => check.inside(path));
  return (
    check.text(command, cwd !== undefined, runsShell) ??
    (stdin !== undefined && runsShell ? check.text(stdin, follows, true) : undefined)
  );
}

class Check {
  readonly #dirs: readonly string[];
  readonly #unusual: readonly string[];

  readonly #budget: Budget;

  constructor(dirs: readonly string[], budget: Budget) {
    this.#dirs = dirs;
    this.#budget = budget;
    this.#unusual = dirs.filter((dir) => SEPARATORS.test(dir));
  }

  get allowsAll(): boolean {
    return this.#dirs.includes('/');
  }

  inside(path: string): boolean {
    if (!path.startsWith('/')) return false;
    const normal = withoutSlash(posix.normalize(path.replace(/^\/+/, '/')));
    return this.#dirs.some((dir) => normal === dir || normal.startsWith(`${dir}/`));
  }

  /** Looks at a command in each way it may be read. @param base whether it starts inside */
  text(command: string, base: boolean, shell: boolean): string | undefined {
    // Characters that programs know under other names: `printf '\57etc'`, `curl file:///srv/%2e%2e`.
    const unescaped = withoutEscapes(command);
    const unquoted = /file:/i.test(command) ? command.replaceAll(/%2[ef]/gi, dotOrSlash) : command;
    for (const spelling of new Set([command, withOwnValues(command, this.#budget), unescaped, unquoted])) {
      for (const script of /#|<</.test(spelling) ? [false, true] : [false]) {
        const found = this.#tokens(shellTokens(spelling, this.#budget, script), base, shell);
        if (found !== undefined) return found;
      }
    }
    for (const inner of encodedTexts(command)) {
      const found = this.#tokens(shellTokens(inner, this.#budget), base, true);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #tokens(tokens: readonly Token[], inside: boolean, shell: boolean, depth = 0): string | undefined {
    const assigned = assignedNames(tokens);
    this.#budget.spend(tokens.length);
    let base = inside || startsInside(tokens, (path) => this.inside(path));
    for (const [at, token] of tokens.entries()) {
      if (token.kind === 'operator') {
        // What follows also runs where a leading `cd` failed.
        if (!inside && !/^(?:&&|\||.*[<>].*)$/.test(token.text)) base = false;
        continue;
      }
      const found =
        this.#word(token, base, assigned) ??
        changesDirectory(tokens, at, base) ??
        logsIn(tokens, at, this.#budget);
      if (found !== undefined) return found;
      if (!shell || !NESTED.test(token.text)) continue;
      const inner = shellTokens(token.text, this.#budget);
      if (inner.length === 1 && inner[0]?.text === token.text) continue;
      if (depth === DEEPEST) return token.text;
      const nested = this.#tokens(inner, base, true, depth + 1);
      if (nested !== undefined) return nested;
    }
    return undefined;
  }

  #word(
    { text, shape, variables, computed }: Word,
    base: boolean,
    assigned: Set<string>,
  ): string | undefined {
    if (computed) return text.endsWith('$') ? `${text}(…)` : text || '`…`';
    const unknown = variables.some((name) => /^\w/.test(name) && !/^\d/.test(name) && !assigned.has(name));
    if (unknown || (variables.length > 0 && text.includes('/'))) return text;
    const globbed = /[*?[]/.test(withoutUrls(shape));
    if (globbed && (withoutUrls(text).includes('/') || /^\.+[*?[]/.test(text))) return text;
    if (hasBraceList(shape)) return text;
    // `set -- .; ls $1$1`
    if (variables.length > 0 && climbs(text.replaceAll(/\$\{?\d\}?/g, '.'))) return text;
    return this.#pieces(text).find((piece) => !this.#admits(piece, base)) ?? this.#unusualName(text);
  }

  /** A neighbour whose name begins as an allowed directory's, then a blank: `'/srv/app evil'`. */
  #unusualName(text: string): string | undefined {
    const parts = withoutUrls(text).split(/[:,;|&<>()=\n]+/);
    return parts.find((part) => part.startsWith('/') && !this.inside(part));
  }

  #pieces(text: string): string[] {
    let rest = withoutUrls(text);
    for (const dir of this.#unusual) rest = rest.replaceAll(`${dir}/`, `${ALLOWED_ROOT}/`);
    if (this.#unusual.includes(rest)) return [];
    return rest.split(SEPARATORS).map((piece) => piece.replace(/^-+\w*(?=\/|\.\.(?:\/|$))/, ''));
  }

  #admits(piece: string, base: boolean): boolean {
    if (piece.startsWith('~')) return false;
    if (piece.startsWith('/')) return this.inside(piece);
    if (climbs(piece.startsWith(ALLOWED_ROOT) ? piece.slice(2) : piece)) return false;
    return base || !piece.includes('/') || piece.startsWith(ALLOWED_ROOT);
  }
}

function hasBraceList(shape: string): boolean {
  const inner = shape.slice(shape.indexOf('{') + 1, Math.max(0, shape.lastIndexOf('}')));
  return shape.includes('{') && (inner.includes(',') || inner.includes('..'));
}

/** True where a relative path leaves the directory it starts from. */
function climbs(path: string): boolean {
  return /^\.\.(?:\/|$)/.test(posix.normalize(path));
}

function withoutUrls(text: string): string {
  return text.replaceAll(URL_ELSEWHERE, (url) => (url.includes('/..') ? url : ' '));
}

function dotOrSlash(code: string): string {
  return /e/i.test(code) ? '.' : '/';
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function usesShell(tokens: readonly Token[]): boolean {
  return tokens.some((token) => token.kind === 'word' && SHELLS.has(posix.basename(token.text)));
}

/** Names that get their values in the command itself, where each value is a word that is judged as well. */
function assignedNames(tokens: readonly Token[]): Set<string> {
  const names = new Set<string>();
  for (const [at, token] of tokens.entries()) {
    if (token.kind !== 'word') continue;
    const name = ASSIGNMENT.exec(token.text)?.[1];
    if (name !== undefined) names.add(name);
    const next = tokens[at + 1];
    if (token.text === 'for' && next?.kind === 'word') names.add(next.text);
  }
  let reads = false;
  for (const token of tokens) {
    if (token.kind === 'operator') reads = false;
    else if (reads) names.delete(token.text);
    reads ||= token.kind === 'word' && READS_VALUES.has(token.text);
  }
  return names;
}
