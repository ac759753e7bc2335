import { Script } from 'node:vm';

import { describe, expect, it } from 'vitest';

import { SCRIPT } from './assets/script.ts';
import { bytes, clock, duration, minutes } from './format.ts';

describe('figures', () => {
  it.each([
    [0.2, '<1 ms'],
    [340, '340 ms'],
    [1_249, '1.2 s'],
    [59_000, '59 s'],
    [200_000, '3 min 20 s'],
    [180_000, '3 min'],
    [7_500_000, '2 h 5 min'],
    [356_400_000, '4 d 3 h'],
  ])('a duration of %d ms: %s', (ms, text) => expect(duration(ms)).toBe(text));

  it('whole minutes', () => {
    expect([minutes(20_000), minutes(200_000), minutes(7_530_000)]).toEqual([
      'under a minute',
      '3 min',
      '2 h 5 min',
    ]);
  });

  it('sizes', () => {
    expect([bytes(12), bytes(1_536), bytes(3 * 1_024 ** 2)]).toEqual(['12 B', '1.5 KiB', '3.0 MiB']);
  });

  it('times, with the day where it is another, and what is none escaped', async () => {
    const now = new Date('2026-11-20T12:00:00Z');
    expect(String(await clock('2026-11-20T09:05:07.123Z', now))).toContain('>09:05:07<');
    expect(String(await clock('2026-11-19T09:05:07Z', now))).toContain('>11-19 09:05<');
    expect(String(await clock('<b>', now))).toBe('&lt;b&gt;');
  });
});

describe('the script', () => {
  it('is JavaScript', () => expect(() => new Script(SCRIPT)).not.toThrow());
});
