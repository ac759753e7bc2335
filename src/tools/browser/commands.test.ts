import { expect, it } from 'vitest';

import { commandsOf, isCss } from './commands.ts';
import { input } from './schema.ts';

const commands = (args: Record<string, unknown>) => commandsOf(input.parse(args), 500);

it('each action becomes the tool’s own command', () => {
  expect(commands({ action: 'open', url: 'HTTP://Example.ORG' })).toEqual([['open', 'http://example.org/']]);
  expect(commands({ action: 'click', ref: 'e5' })).toEqual([['click', '@e5']]);
  expect(commands({ action: 'click', ref: '#id' })).toEqual([['click', '#id']]);
  expect(commands({ action: 'press', ref: '@e2', value: 'Enter' })).toEqual([
    ['focus', '@e2'],
    ['press', 'Enter'],
  ]);
  expect(commands({ action: 'scroll' })).toEqual([['scroll', 'down', '600']]);
  expect(commands({ action: 'scroll', ref: 'e1' })).toEqual([['scrollintoview', '@e1']]);
  expect(commands({ action: 'wait' })).toEqual([['wait', '--load', 'load', '--timeout', '500']]);
});

// The tool takes `--clear` and `--delay` as options of `type` even where the command is JSON.
it('a text that reads like an option of type goes in two parts', () => {
  expect(commands({ action: 'type', ref: '#a', value: '--clear' })).toEqual([
    ['type', '#a', '-'],
    ['type', '#a', '-clear'],
  ]);
});

it('a text to wait for, and a script, cannot begin like an option or end the expression', () => {
  expect(commands({ action: 'wait', value: '"); alert(1); ("' })).toEqual([
    ['wait', '--fn', 'document.body?.innerText.includes("\\"); alert(1); (\\"")', '--timeout', '500'],
  ]);
  expect(commands({ action: 'eval', value: '--stdin' })).toEqual([['eval', '/**/ --stdin']]);
});

it.each([
  ['#name', true],
  ['$(touch x)', true],
  ['div[data-x=y]', true],
  ['e5', false],
  ['@e5', false],
  ['text=Send', false],
  ['xpath=//a', false],
  ['//a', false],
  ['(//a)[1]', false],
])('%s is a CSS selector: %s', (ref, expected) => {
  expect(isCss(ref)).toBe(expected);
});
