import { posix } from 'node:path';

import type { Budget } from './budget.ts';
import type { Token } from './shell-words.ts';

const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;
/** Words and programs that run the command which follows them, somewhere among their own arguments. */
const WRAPPERS = new Set(
  (
    'do then else elif if while until ! { time command builtin exec eval trap coproc ' +
    'sudo doas su runuser env nice ionice chrt taskset nohup setsid timeout stdbuf xargs parallel watch ' +
    'busybox toybox strace ltrace unshare nsenter chroot setpriv systemd-run fakeroot script flock ssh ' +
    'sh bash dash ash ksh mksh zsh fish csh tcsh -exec -execdir -ok -okdir'
  ).split(' '),
);
const GLOB = /[*?[]/;
const LONGEST_GLOB = 64;
const FARTHEST = 33;

/** The words of each command in a text, without redirections and what they lead to. */
export function simpleCommands(tokens: readonly Token[]): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token.kind === 'operator') {
      if (/[<>]/.test(token.text)) {
        // `2>x`: the descriptor belongs to the redirection.
        if (/^\d$/.test(words.at(-1) ?? '')) words.pop();
      } else if (words.length > 0) {
        commands.push(words);
        words = [];
      }
      continue;
    }
    const before = tokens[at - 1];
    if (before?.kind === 'operator' && /[<>]/.test(before.text)) continue;
    words.push(token.text);
  }
  if (words.length > 0) commands.push(words);
  return commands;
}

/** What entries of the blocklist want of a program's arguments: `-rf` of `rm`, for each its place in the list. */
export type NamedPrograms = ReadonlyMap<string, readonly { place: number; rest: readonly string[] }[]>;

/**
 * The first of the entries that a command runs, in other words than the entry's: the same program, found by a glob
 * too, with the same operands and options, however these are grouped and ordered.
 * @returns its place in the list
 */
export function runsAs(words: readonly string[], named: NamedPrograms, budget: Budget): number | undefined {
  let onlyAssignments = true;
  let wrapped = false;
  let given: Given | undefined;
  let best: number | undefined;
  // Far behind its beginning a command has arguments only.
  for (const [at, word] of words.slice(0, FARTHEST).entries()) {
    budget.spend(1);
    const base = posix.basename(word);
    for (const program of onlyAssignments || wrapped ? programs(base, named, budget) : []) {
      for (const { place, rest } of named.get(program) ?? []) {
        // An entry of one word has been looked for as a substring already.
        if (rest.length === 0 && base === program) continue;
        given ??= new Given(words, budget);
        if (place < (best ?? Infinity) && given.hasAll(rest, at, budget)) best = place;
      }
    }
    onlyAssignments &&= ASSIGNMENT.test(word);
    wrapped ||= WRAPPERS.has(base);
  }
  return best;
}

/** The entries' programs that a word means. */
function programs(base: string, named: NamedPrograms, budget: Budget): string[] {
  const own = named.has(base) ? [base] : [];
  // `*` alone would be every program.
  if (!GLOB.test(base) || !/\w/.test(base) || base.length > LONGEST_GLOB) return own;
  budget.spend(named.size / 4);
  const first = base.charAt(0);
  const any = GLOB.test(first);
  const others = [...named.keys()].filter(
    (program) => (any || program.startsWith(first)) && globs(base, program, budget),
  );
  return [...own, ...others];
}

/**
 * Whether the beginning of a glob matches a name: `mk?s.ext4` matches `mkfs`, since the beginning of a name is
 * enough, as it is for a substring. Goes over the glob once, with all places in the name that it may have reached.
 */
function globs(glob: string, name: string, budget: Budget): boolean {
  let reachable = new Set([0]);
  let named = false;
  for (const unit of glob.match(/\[[^\]]*\]|[\s\S]/g) ?? []) {
    named ||= /\w/.test(unit);
    const next = new Set<number>();
    budget.spend(reachable.size);
    for (const at of reachable) {
      if (unit === '*') for (let to = at; to <= name.length; to += 1) next.add(to);
      else if (at < name.length && matchesOne(unit, name.charAt(at))) next.add(at + 1);
    }
    if (next.size === 0) return false;
    if (named && next.has(name.length)) return true;
    reachable = next;
  }
  return false;
}

function matchesOne(unit: string, char: string): boolean {
  if (unit === '?') return true;
  if (unit.length === 1) return unit === char;
  const negated = /^\[[!^]/.test(unit);
  const set = unit.slice(negated ? 2 : 1, -1);
  if (set.startsWith('[:')) return true;
  let found = set.includes(char);
  for (const [, from = '', to = ''] of set.matchAll(/(.)-(.)/g)) found ||= from <= char && char <= to;
  return found !== negated;
}

/** What a command is given, by the last place where it stands. */
class Given {
  readonly #words = new Map<string, number>();
  /** Of options in short form: `-rf`. */
  readonly #letters = new Map<string, number>();

  constructor(words: readonly string[], budget: Budget) {
    for (const [at, word] of words.entries()) {
      budget.spend(word.length);
      this.#words.set(word, at);
      if (/^-\w+$/.test(word)) for (const letter of word.slice(1)) this.#letters.set(letter, at);
    }
  }

  hasAll(wanted: readonly string[], behind: number, budget: Budget): boolean {
    budget.spend(wanted.length + 1);
    return wanted.every((word) => {
      if ((this.#words.get(word) ?? 0) > behind) return true;
      if (!/^-[A-Za-z]+$/.test(word)) return false;
      return Array.from(word.slice(1)).every((letter) => (this.#letters.get(letter) ?? 0) > behind);
    });
  }
}
