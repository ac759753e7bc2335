import { expect, it } from 'vitest';

import type { Step } from './agent-browser.ts';
import { readings } from './readings.ts';
import { input } from './schema.ts';

const step = (result: Record<string, unknown>): Step => ({ success: true, result, error: null });

it('a text is cut at a whole character, and the cut is named', () => {
  const call = input.parse({ action: 'text', max_chars: 100 });
  const whole = `${'a'.repeat(99)}😀 and more`;
  expect(readings(call, [step({ text: whole })])).toEqual({
    text: `${'a'.repeat(99)}\n[cut: 99 of 110 characters; for the rest name a part by ref, or raise max_chars]`,
    truncated: true,
  });
});

// Tag characters spell instructions that a person does not see and a model reads (CVE-less, shown 2024 onwards).
it('invisible characters are taken out of every text, nested ones of eval included', () => {
  const call = input.parse({ action: 'eval', value: '1' });
  const hidden = `a\u{E0041}\u{E0042}b`;
  expect(readings(call, [step({ result: { list: [hidden], [hidden]: 1 } })])).toEqual({
    result: { list: ['ab'], ab: 1 },
  });
});

it('the newest console lines are kept where not all fit', () => {
  const call = input.parse({ action: 'console', max_chars: 100 });
  const messages = Array.from({ length: 30 }, (_, i) => ({ type: 'log', text: `message ${i + 10}` }));
  const { console: lines } = readings(call, [step({ messages }), step({ errors: [{ text: 'boom' }] })]);
  expect(lines).toHaveLength(11);
  expect(lines?.at(-1)).toEqual({ level: 'exception', text: 'boom' });
  expect(lines?.at(-2)).toEqual({ level: 'log', text: 'message 39' });
});
