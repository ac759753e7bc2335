import type { Command } from './agent-browser.ts';
import type { BrowserInput } from './schema.ts';

/** What an action needs beyond its name; the others are optional. */
export const NEEDED: Partial<Record<BrowserInput['action'], readonly (keyof BrowserInput)[]>> = {
  open: ['url'],
  click: ['ref'],
  fill: ['ref', 'value'],
  type: ['ref', 'value'],
  press: ['value'],
  select: ['ref', 'value'],
  hover: ['ref'],
  eval: ['value'],
};

const REF = /^@?(e\d+)$/;

/** The tool's way to name an element: `@e5`, or a selector as it is. */
export function element(ref: string): string {
  const found = REF.exec(ref);
  return found ? `@${found[1]}` : ref;
}

export function isSnapshotRef(ref: string): boolean {
  return REF.test(ref);
}

/**
 * Whether the tool takes this for a CSS selector, rather than for a ref or one of its own kinds (`text=Send`,
 * `xpath=//a`). One that cannot be read it takes for an element, does nothing, and reports success.
 */
export function isCss(ref: string): boolean {
  return !isSnapshotRef(ref) && !/^(?:\w+=|\(*\/\/)/.test(ref);
}

/**
 * The commands of an action, each argument in a place where the tool takes it for what it is. (It was tried with
 * every option it knows as text; `policy.ts` and `typing` below keep out the few that it misread.)
 * @param waitMs the longest that `wait` may take
 */
export function commandsOf(input: BrowserInput, waitMs: number): Command[] {
  const target = input.ref === undefined ? undefined : element(input.ref);
  const value = input.value ?? '';
  switch (input.action) {
    case 'open':
      // As the policy parsed it: what was judged is what is opened.
      return [['open', new URL(input.url ?? '').href]];
    case 'snapshot':
      return [target === undefined ? ['snapshot'] : ['snapshot', '-s', target]];
    case 'click':
    case 'hover':
      return [[input.action, target ?? '']];
    case 'fill':
    case 'select':
      return [[input.action, target ?? '', value]];
    case 'type':
      return typing(target ?? '', value);
    case 'press':
      return target === undefined
        ? [['press', value]]
        : [
            ['focus', target],
            ['press', value],
          ];
    case 'scroll':
      return target === undefined
        ? [['scroll', ...(input.value ?? 'down 600').split(' ')]]
        : [['scrollintoview', target]];
    case 'wait':
      return [[...waiting(target, input.value), '--timeout', String(waitMs)]];
    case 'text':
      return [['get', 'text', target ?? 'body']];
    case 'back':
    case 'forward':
    case 'reload':
      return [[input.action]];
    case 'console':
      return [['console'], ['errors']];
    case 'eval':
      // The comment keeps a script such as "-1" from being read as an option.
      return [['eval', `/**/ ${value}`]];
    case 'screenshot':
    case 'pdf':
    case 'tabs':
    case 'close':
      return [];
  }
}

/** `type` has options (--clear, --delay), and takes a text that reads like one for it: such a text goes in two parts. */
function typing(target: string, text: string): Command[] {
  if (!text.startsWith('--')) return [['type', target, text]];
  return [
    ['type', target, '-'],
    ['type', target, text.slice(1)],
  ];
}

function waiting(target: string | undefined, text: string | undefined): Command {
  if (text !== undefined) {
    return ['wait', '--fn', `document.body?.innerText.includes(${JSON.stringify(text)})`];
  }
  return target === undefined ? ['wait', '--load', 'load'] : ['wait', target];
}
