import { posix } from 'node:path';

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

/**
 * Whether a command runs what an entry names, in other words than the entry's: the same program, found by a glob too,
 * with the same operands and options, however these are grouped and ordered.
 * @param wanted the entry's words, such as `rm`, `-rf`
 */
export function runsAs(words: readonly string[], wanted: readonly string[]): boolean {
  const [program = '', ...rest] = wanted;
  for (const [at, word] of words.entries()) {
    if (isCommandAt(words, at) && names(word, program, rest.length > 0) && hasAll(words.slice(at + 1), rest))
      return true;
    // Far behind its beginning a command has arguments only.
    if (at > 32) return false;
  }
  return false;
}

function isCommandAt(words: readonly string[], at: number): boolean {
  const before = words.slice(0, at);
  return (
    before.every((word) => ASSIGNMENT.test(word)) || before.some((word) => WRAPPERS.has(posix.basename(word)))
  );
}

function names(word: string, program: string, exactly: boolean): boolean {
  const base = posix.basename(word);
  // An entry of one word has been looked for as a substring already.
  if (base === program) return exactly;
  if (!GLOB.test(base) || base.length > LONGEST_GLOB) return false;
  // `mk?s.ext4` for `mkfs`: the beginning of a name is enough, as it is for a substring.
  const units = base.match(/\[[^\]]*\]|[\s\S]/g) ?? [];
  return units.some((_unit, last) => {
    const start = units.slice(0, last + 1);
    // `*` alone would be every program.
    return start.some((unit) => /\w/.test(unit)) && matches(start, program);
  });
}

/** A glob against a name, without going back over more than one `*` at a time. */
function matches(units: readonly string[], name: string): boolean {
  let reachable = new Set([0]);
  for (const unit of units) {
    const next = new Set<number>();
    for (const at of reachable) {
      if (unit === '*') for (let to = at; to <= name.length; to += 1) next.add(to);
      else if (at < name.length && matchesOne(unit, name.charAt(at))) next.add(at + 1);
    }
    reachable = next;
  }
  return reachable.has(name.length);
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

function hasAll(given: readonly string[], wanted: readonly string[]): boolean {
  const letters = given.flatMap((word) => (/^-\w+$/.test(word) ? Array.from(word.slice(1)) : []));
  return wanted.every((word) =>
    /^-[A-Za-z]+$/.test(word)
      ? Array.from(word.slice(1)).every((letter) => letters.includes(letter)) || given.includes(word)
      : given.includes(word),
  );
}
