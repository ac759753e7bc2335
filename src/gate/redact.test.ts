import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { stripInvisible } from '../core/visible-text.ts';
import { createRedactor, redactObject, redactValue } from './redact.ts';

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

  // A record, a log line or an output that is cut to a length would show all of a secret but its end otherwise.
  it.each([
    [
      'to half and more',
      `${'y'.repeat(10)} 0123456789abcdef0123456789abcdef01`,
      'yyyyyyyyyy [redacted TOKEN]',
    ],
    ['to less than half', 'x 0123456789abcdef', 'x 0123456789abcdef'],
    [
      'and followed by a mark',
      '0123456789abcdef0123456789abcdef0123456789… [9 more]',
      '[redacted TOKEN]… [9 more]',
    ],
    ['in base64', 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5', '[redacted TOKEN]'],
    ['not at all', '0123456789abcdef'.repeat(4), '[redacted TOKEN]'],
  ])('takes out one that is cut %s', (_, text, expected) => {
    expect(createRedactor(new Map([['TOKEN', '0123456789abcdef'.repeat(4)]]))(text)).toBe(expected);
  });

  it('takes out a very long one, whole and cut', () => {
    const long = Array.from({ length: 400 }, (_, n) => `${n}.`).join('');
    const redactLong = createRedactor(new Map([['LONG', long]]));
    expect(redactLong(`<${long}>`)).toBe('<[redacted LONG]>');
    expect(redactLong(`<${long.slice(0, 900)}`)).toBe('<[redacted LONG]');
    expect(long.length).toBe(1_490);
  });

  it('leaves the beginning that a kind of token has in common', () => {
    const tokens = new Map([['TOKEN', 'github_pat_11ABCDEFG0123456789']]);
    expect(createRedactor(tokens)('A fine-grained token begins with github_pat_11.')).toBe(
      'A fine-grained token begins with github_pat_11.',
    );
  });

  it('reaches every string of a value, keys included', () => {
    expect(redactValue({ 'hunter2/plus+"q"': [1, { deep: 'x hunter2/plus+"q"' }, null] }, redact)).toEqual({
      '[redacted MCP_SECRET]': [1, { deep: 'x [redacted MCP_SECRET]' }, null],
    });
  });

  it('does with an object at once what it does string by string', () => {
    const clean = (text: string) => redact(stripInvisible(text));
    const text = fc
      .array(
        fc.oneof(
          fc.constantFrom(
            'hunter2/plus+"q"',
            'hunter2%2Fplus%2B%22q%22',
            'hunter2/plus+\\"q\\"',
            'aHVudGVyMi9wbHVzKyJxIg==',
          ),
          fc.constantFrom('\\', '"', '\n', '\u001b[31m', '\u200b', '\u2028', '\u{e0041}', '\ud800', 'é', ','),
          fc.string({ maxLength: 5 }),
        ),
        { maxLength: 4 },
      )
      .map((parts) => parts.join(''));
    const leaf = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
    const value = fc.dictionary(text, fc.oneof(leaf, fc.array(leaf), fc.dictionary(text, leaf)));
    fc.assert(
      fc.property(value, (given) => {
        const expected = JSON.stringify(redactValue(given, clean));
        const { value: found, json } = redactObject(given, clean);
        expect([json, JSON.stringify(found)]).toEqual([expected, expected]);
      }),
      { numRuns: 5_000 },
    );
  });
});
