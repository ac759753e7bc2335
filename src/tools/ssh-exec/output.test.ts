import { describe, expect, it } from 'vitest';

import { createCapture } from './output.ts';

function captured(limit: number, ...chunks: (string | Buffer)[]) {
  const capture = createCapture(limit);
  for (const chunk of chunks) capture.add(Buffer.from(chunk));
  return { text: capture.text(), truncated: capture.truncated };
}

describe('the capture of an output stream', () => {
  it.each([
    ['nothing', 10, [], '', false],
    ['less than the limit', 10, ['abc', 'def'], 'abcdef', false],
    ['exactly the limit', 10, ['0123456789'], '0123456789', false],
    ['one byte more', 10, ['0123456789a'], '01234\n[… 1 bytes cut …]\n6789a', true],
    ['byte by byte', 4, 'abcdefg'.split(''), 'ab\n[… 3 bytes cut …]\nfg', true],
    [
      'a chunk larger than all of it',
      4,
      ['ab', 'x'.repeat(1000), 'yz'],
      'ab\n[… 1000 bytes cut …]\nyz',
      true,
    ],
    ['an odd limit', 5, ['abcdefgh'], 'abc\n[… 3 bytes cut …]\ngh', true],
    ['a limit of one', 1, ['abc'], 'a\n[… 2 bytes cut …]\n', true],
    ['characters in two chunks', 10, [Buffer.from([0xe2, 0x82]), Buffer.from([0xac])], '€', false],
    ['characters at both cuts', 8, ['a€€€€€b'], 'a€\n[… 9 bytes cut …]\n€b', true],
    ['four-byte characters', 8, ['😀😀😀'], '😀\n[… 4 bytes cut …]\n😀', true],
    ['binary', 10, [Buffer.from([0xff, 0x00, 0x41])], '\uFFFD\0A', false],
  ])('%s', (_what, limit, chunks, text, truncated) => {
    expect(captured(limit, ...chunks)).toEqual({ text, truncated });
  });

  it('keeps the end of a ring that went round many times', () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `${index}\n`);
    const { text } = captured(40, ...lines);
    expect(text).toBe('0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n\n[… 48850 bytes cut …]\n9996\n9997\n9998\n9999\n');
  });
});
