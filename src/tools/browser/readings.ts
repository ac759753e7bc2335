import { stripInvisible } from '../../core/visible-text.ts';
import type { Step } from './agent-browser.ts';
import type { BrowserInput, BrowserOutput, ConsoleLine } from './schema.ts';

/** The part of a result that an action adds to where the page is. */
export function readings(input: BrowserInput, steps: readonly Step[]): Partial<BrowserOutput> {
  const result = (at: number) => steps[at]?.result ?? {};
  switch (input.action) {
    case 'snapshot':
      return cut('snapshot', text(result(0)['snapshot']) || '(empty page)', input.max_chars);
    case 'text':
      return cut('text', text(result(0)['text']), input.max_chars);
    case 'console':
      return { console: consoleOf(result(0), result(1), input.max_chars) };
    case 'eval': {
      const value = visible(result(0)['result']);
      const json = JSON.stringify(value) ?? 'null';
      if (json.length <= input.max_chars) return { result: value };
      return { result: shorten(json, input.max_chars), truncated: true };
    }
    default:
      return {};
  }
}

function cut(name: 'snapshot' | 'text', whole: string, most: number): Partial<BrowserOutput> {
  const clean = stripInvisible(whole);
  if (clean.length <= most) return { [name]: clean };
  return { [name]: shorten(clean, most), truncated: true };
}

function shorten(whole: string, most: number): string {
  // Half a surrogate pair is no character.
  const head = whole.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');
  return `${head}\n[cut: ${head.length} of ${whole.length} characters; for the rest name a part by ref, or raise max_chars]`;
}

const MOST_MESSAGES = 200;

/** The newest messages that fit. */
function consoleOf(log: object, errors: object, most: number): ConsoleLine[] {
  const { messages = [] } = log as { messages?: { type?: unknown; text?: unknown }[] };
  const { errors: thrown = [] } = errors as { errors?: { text?: unknown }[] };
  const all = [
    ...messages.map(({ type, text: said }) => ({ level: text(type), text: stripInvisible(text(said)) })),
    ...thrown.map(({ text: said }) => ({ level: 'exception', text: stripInvisible(text(said)) })),
  ];
  let left = most;
  const fitting: ConsoleLine[] = [];
  for (const entry of all.slice(-MOST_MESSAGES).toReversed()) {
    if (left <= 0) break;
    fitting.unshift({ ...entry, text: entry.text.slice(0, left) });
    left -= entry.text.length;
  }
  return fitting;
}

/** A JSON value with every text in it rid of invisible characters. */
export function visible(value: unknown): unknown {
  if (typeof value === 'string') return stripInvisible(value);
  if (Array.isArray(value)) return value.map(visible);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [stripInvisible(key), visible(entry)]),
  );
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
