import { describe, expect, it } from 'vitest';

import { createOutputLog } from './output-log.ts';

const bytes = (text: string) => Buffer.from(text);

describe('a job’s output', () => {
  it('is given out once, in order', () => {
    const log = createOutputLog(100);
    log.add(bytes('one '));
    log.add(bytes('two '));
    expect(log.take(100, false)).toEqual({ text: 'one two ', lost: 0, left: 0 });
    expect(log.take(100, false)).toEqual({ text: '', lost: 0, left: 0 });
    log.add(bytes('three'));
    expect(log.take(100, true)).toEqual({ text: 'three', lost: 0, left: 0 });
  });

  it('that is more than was asked for waits for the next read', () => {
    const log = createOutputLog(100);
    log.add(bytes('0123456789'));
    expect(log.take(6, true)).toEqual({ text: '012345', lost: 0, left: 4 });
    expect(log.take(6, true)).toEqual({ text: '6789', lost: 0, left: 0 });
  });

  it('beyond the bound loses its oldest part, and says how much', () => {
    const log = createOutputLog(8);
    for (const part of ['abc', 'defgh', 'ij', 'k']) log.add(bytes(part));
    expect(log.take(100, false)).toEqual({ text: '[… 3 bytes lost …]\ndefghijk', lost: 3, left: 0 });
    log.add(bytes('0123456789'));
    expect(log.take(100, false)).toEqual({ text: '[… 2 bytes lost …]\n23456789', lost: 2, left: 0 });
    expect(log.take(100, false)).toEqual({ text: '', lost: 0, left: 0 });
  });

  it('counts what one large piece pushes out together with its own loss', () => {
    const log = createOutputLog(4);
    log.add(bytes('abc'));
    log.add(bytes('0123456'));
    expect(log.take(100, true)).toEqual({ text: '[… 6 bytes lost …]\n3456', lost: 6, left: 0 });
  });

  it('is whole characters, also across reads and the edge of the ring', () => {
    const log = createOutputLog(9);
    const euro = bytes('€');
    log.add(bytes('ab'));
    log.add(euro.subarray(0, 2));
    expect(log.ready(false)).toBe(true);
    expect(log.take(100, false)).toEqual({ text: 'ab', lost: 0, left: 2 });
    expect(log.ready(false)).toBe(false);
    expect(log.ready(true)).toBe(true);
    log.add(euro.subarray(2));
    log.add(bytes('€€'));
    expect(log.take(4, false)).toEqual({ text: '€', lost: 0, left: 6 });
    expect(log.take(1, false)).toEqual({ text: '€', lost: 0, left: 3 });
    log.add(bytes('€€€'));
    expect(log.take(100, false)).toEqual({ text: '[… 3 bytes lost …]\n€€€', lost: 3, left: 0 });
  });

  it('that ends within a character gives out what there is', () => {
    const log = createOutputLog(9);
    log.add(bytes('a€').subarray(0, 3));
    expect(log.take(100, true)).toEqual({ text: 'a\uFFFD', lost: 0, left: 0 });
  });

  it('takes memory only for what is unread, within its bound', () => {
    const log = createOutputLog(64 * 1024);
    expect(log.size).toBe(0);
    log.add(bytes('x'));
    expect(log.size).toBe(4096);
    for (let index = 0; index < 1_000; index += 1) log.add(Buffer.alloc(1_000, 'x'));
    expect(log.size).toBe(64 * 1024);
    expect(log.take(1_000_000, false).lost).toBe(1_000_001 - 64 * 1024);
    expect(log.size).toBe(0);
  });
});
