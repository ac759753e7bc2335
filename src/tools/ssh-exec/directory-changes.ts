import { posix } from 'node:path';

import type { Budget } from './budget.ts';
import type { Token } from './shell-words.ts';

/** `popd` goes back to where a `pushd` came from, which may be the login's home. */
const CHANGES_DIRECTORY = new Set(['cd', 'chdir', 'pushd', 'popd']);
/** Programs that run a command in a home, where a relative path is another one. */
const LOGS_IN: Readonly<Record<string, RegExp>> = {
  su: /^(?:-|-\w*l\w*|--login)$/,
  sudo: /^(?:-\w*i|--login)$/,
  runuser: /^(?:-|-\w*l\w*|--login)$/,
};
/** Words after which another command begins. */
const PREFIXES = new Set(
  'do then else elif if while until ! time command builtin exec eval trap coproc nohup env sudo'.split(' '),
);
const TAKES_VALUE = /^-[ugUChpDR]$/;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

function isCommand(tokens: readonly Token[], at: number): boolean {
  for (let before = at - 1; ; before -= 1) {
    const token = tokens[before];
    if (!token) return true;
    if (token.kind === 'operator') return !/[<>]/.test(token.text);
    if (token.text === '{') return true;
    if (!PREFIXES.has(token.text) && !ASSIGNMENT.test(token.text) && !token.text.startsWith('-'))
      return false;
  }
}

/** The directory a `cd` at that place goes to; undefined where there is no `cd`, '' for one without a directory. */
function cdTarget(tokens: readonly Token[], at: number): string | undefined {
  const token = tokens[at];
  if (token?.kind !== 'word' || !CHANGES_DIRECTORY.has(token.text) || !isCommand(tokens, at))
    return undefined;
  let next = tokens[at + 1];
  for (let skip = 2; next?.kind === 'word' && /^-[LPe@-]/.test(next.text); skip += 1)
    next = tokens[at + skip];
  return next?.kind === 'word' ? next.text : '';
}

/**
 * A word at that place that changes to a directory which may be outside.
 * @param base whether the command is surely inside there
 */
export function changesDirectory(tokens: readonly Token[], at: number, base: boolean): string | undefined {
  const target = cdTarget(tokens, at);
  if (target === undefined) return undefined;
  if (tokens[at]?.text === 'popd') return 'popd';
  if (target === '' || /^[-+]/.test(target)) return `cd ${target}`.trim();
  return target.startsWith('/') || base ? undefined : target;
}

/** `su - me -c ls`, `sudo -i ls`: what is run there starts in a home. */
export function logsIn(tokens: readonly Token[], at: number, budget: Budget): string | undefined {
  const token = tokens[at];
  const option = token?.kind === 'word' ? LOGS_IN[posix.basename(token.text)] : undefined;
  if (option === undefined) return undefined;
  for (let next = at + 1; tokens[next]?.kind === 'word'; next += 1) {
    budget.spend(1);
    const word = tokens[next]?.text ?? '';
    if (option.test(word)) return `${token?.text} ${word}`;
    const before = tokens[next - 1]?.text ?? '';
    if (!word.startsWith('-') && !TAKES_VALUE.test(before)) return undefined;
  }
  return undefined;
}

/** Whether a command begins with a `cd` to a directory that `inside` admits, and goes on only where that worked. */
export function startsInside(tokens: readonly Token[], inside: (path: string) => boolean): boolean {
  const target = cdTarget(tokens, 0);
  const then = tokens.findIndex((token) => token.kind === 'operator');
  return target !== undefined && inside(target) && tokens[then]?.text === '&&';
}
