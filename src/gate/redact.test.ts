import { describe, expect, it } from 'vitest';

import { createRedactor, redactValue } from './redact.ts';

const redact = createRedactor(
  new Map([
    ['MCP_SECRET', 'hunter2/plus+"q"'],
    ['SHORT', 'abc'],
    ['LONG', 'hunter2/plus+"q"-and-more'],
  ]),
);

describe('createRedactor', () => {
  it.each([
    ['as it is', 'token hunter2/plus+"q".', 'token [redacted MCP_SECRET].'],
    ['percent-encoded', 'hunter2%2Fplus%2B%22q%22', '[redacted MCP_SECRET]'],
    ['inside JSON', '{"a":"hunter2/plus+\\"q\\""}', '{"a":"[redacted MCP_SECRET]"}'],
    ['in base64', 'aHVudGVyMi9wbHVzKyJxIg==', '[redacted MCP_SECRET]'],
    ['as HTTP Basic', 'aHVudGVyMi9wbHVzKyJxIjo=', '[redacted MCP_SECRET]'],
    ['inside a longer secret', 'hunter2/plus+"q"-and-more', '[redacted LONG]'],
    ['too short to be one', 'abc', 'abc'],
  ])('takes a secret out %s', (_, text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it('reaches every string of a value, keys included', () => {
    expect(redactValue({ 'hunter2/plus+"q"': [1, { deep: 'x hunter2/plus+"q"' }, null] }, redact)).toEqual({
      '[redacted MCP_SECRET]': [1, { deep: 'x [redacted MCP_SECRET]' }, null],
    });
  });
});
