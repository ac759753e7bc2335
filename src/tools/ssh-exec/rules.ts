import type { Budget } from './budget.ts';
import { type Finder, createFinder } from './finder.ts';
import { type Token, shellTokens } from './shell-words.ts';
import { runsAs, simpleCommands } from './simple-commands.ts';

/** A blocklist made ready to be looked for. Built once: it costs more than looking. */
export interface Rules {
  /** The first entry that stands in a text, as it was written or folded. */
  inText(text: string, budget: Budget): string | undefined;
  /** The first entry that one of the commands runs, redirections left out. */
  inCommands(tokens: readonly Token[], budget: Budget): string | undefined;
  /** Whether a line holds the beginning of an entry, quotes and white space left out; else none is in it. */
  mayBegin(bareLine: string): boolean;
  /** First characters of what the entries name, for a pattern. */
  readonly initials: string;
}

const ready = new WeakMap<readonly string[], Rules>();

export function rulesOf(list: readonly string[]): Rules {
  const rules = ready.get(list) ?? prepared(list);
  ready.set(list, rules);
  return rules;
}

/** White space of each kind is one blank. */
export function folded(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** What quoting adds and blanks, gone. */
export function bare(text: string): string {
  return text.replaceAll(/\$(?=['"])|['"\\ \t\r\f\v]+/g, '');
}

function prepared(list: readonly string[]): Rules {
  const forms = list.map(foldedRule);
  const anywhere = createFinder(
    list.map((rule, at) => [rule, forms[at]?.trim() === '' ? '' : (forms[at] ?? '')]),
  );
  const beginnings: Finder = createFinder([forms.map(beginning)]);
  // A rule of blanks alone, say, may be anywhere.
  const unclear = forms.some((form) => beginning(form) === '');
  const named = new Map<string, { place: number; rest: readonly string[] }[]>();
  for (const [place, form] of forms.entries()) {
    const [program = '', ...rest] = form.trim().split(' ');
    if (program !== '') named.set(program, [...(named.get(program) ?? []), { place, rest }]);
  }
  return {
    initials: [...new Set(Array.from(named.keys(), (program) => program.charAt(0)))].join(''),
    inText(text, budget) {
      budget.spend(text.length / 4);
      const place = anywhere.first(text);
      return place === undefined ? undefined : list[place];
    },
    inCommands(tokens, budget) {
      const commands = simpleCommands(tokens);
      if (tokens.some(({ kind, text }) => kind === 'operator' && /[<>]/.test(text))) {
        const found = this.inText(commands.map((words) => ` ${words.join(' ')} `).join('\0'), budget);
        if (found !== undefined) return found;
      }
      budget.spend(commands.length);
      let best: number | undefined;
      for (const words of commands) {
        const place = runsAs(words, named, budget);
        if (place !== undefined && place < (best ?? list.length)) best = place;
      }
      return best === undefined ? undefined : list[best];
    },
    mayBegin: (line) => unclear || beginnings.first(line) !== undefined,
  };
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

/** What the bare form of a line holds wherever an entry is in it: its program's name, or all of it. */
function beginning(form: string): string {
  const [program = ''] = form.trim().split(' ');
  return bare(/\w/.test(program) ? program : form);
}
