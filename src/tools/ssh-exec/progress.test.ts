import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createOutputProgress } from './progress.ts';

describe('progress', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const told: string[] = [];
  const start = () => {
    told.length = 0;
    return createOutputProgress((message) => told.push(message));
  };

  it('tells whole lines at once, then what gathered in half a second', () => {
    const progress = start();
    progress.add('stdout', Buffer.from('one\ntw'));
    expect(told).toEqual(['one']);
    progress.add('stdout', Buffer.from('o\n'));
    progress.add('stderr', Buffer.from('oops\n'));
    progress.add('stdout', Buffer.from('three\nfou'));
    vi.advanceTimersByTime(499);
    expect(told).toEqual(['one']);
    vi.advanceTimersByTime(1);
    expect(told).toEqual(['one', 'two\nthree\noops']);
    vi.advanceTimersByTime(60_000);
    expect(told).toHaveLength(2);
  });

  it('takes the carriage returns of a progress bar for the ends of lines', () => {
    const progress = start();
    progress.add('stderr', Buffer.from('10%\r20%\r30'));
    expect(told).toEqual(['10%\n20%']);
  });

  it('keeps the last lines of a flood, and no half characters', () => {
    const progress = start();
    progress.add('stdout', Buffer.from(`${'€'.repeat(20_000)}\nlast\n`));
    expect(told[0]?.endsWith('€\nlast')).toBe(true);
    expect(told[0]).not.toContain('\uFFFD');
    expect(Buffer.byteLength(told[0] ?? '')).toBeLessThanOrEqual(16 * 1024);
  });

  it('tells nothing after the end', () => {
    const progress = start();
    progress.add('stdout', Buffer.from('one\n'));
    progress.add('stdout', Buffer.from('two\n'));
    progress.stop();
    progress.add('stdout', Buffer.from('three\n'));
    vi.advanceTimersByTime(60_000);
    expect(told).toEqual(['one']);
  });
});
