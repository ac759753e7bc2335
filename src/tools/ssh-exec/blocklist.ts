import type { Budget } from './budget.ts';
import { readings, visible } from './readings.ts';
import { type Rules, rulesOf } from './rules.ts';
import { encodedTexts } from './spellings.ts';

/** Encodings within encodings that are followed. */
const DEEPEST_ENCODING = 2;

/**
 * The first entry of the blocklist that a text contains: as given, and as a shell would read it (quotes,
 * backslashes and line continuations removed, white space folded, `$IFS` a blank, empty expansions gone, variables
 * put in that the text itself assigns, braces expanded, redirections left out), through several levels of quoting,
 * and in base64, hexadecimal digits and character escapes. Options may stand apart and in another order (`rm -f -r`
 * for `rm -rf`), and a command may be a glob (`/bin/r?`).
 * @throws TooIntricate where that would take more than is left of the budget
 */
export function blockedBy(text: string, list: readonly string[], budget: Budget): string | undefined {
  return list.length === 0 ? undefined : foundIn(text, rulesOf(list), budget, DEEPEST_ENCODING);
}

function foundIn(text: string, rules: Rules, budget: Budget, encodings: number): string | undefined {
  const given = rules.inText(text, budget);
  if (given !== undefined) return given;
  const seen = visible(text);
  for (const { line, tokens } of readings(seen, rules, budget)) {
    const found = rules.inText(line, budget) ?? (tokens && rules.inCommands(tokens, budget));
    if (found !== undefined) return found;
  }
  if (encodings === 0) return undefined;
  const inner = [...encodedTexts(seen)].join('\n;\n');
  return inner === '' ? undefined : foundIn(inner, rules, budget, encodings - 1);
}
