import { describe, expect, it } from 'vitest';

import { createFresh } from './fresh.ts';

describe('a fresh value', () => {
  it('is not read before somebody asks, and once for all who do', async () => {
    let reads = 0;
    const read = createFresh(async () => (reads += 1), { maxAgeMs: 60_000, patienceMs: 60_000 });
    expect(reads).toBe(0);
    const [first, second] = await Promise.all([read(), read()]);
    expect([first.value, second.value, (await read()).value, reads]).toEqual([1, 1, 1, 1]);
  });

  it('does not hold up who asks while a system hangs, and shows what there was', async () => {
    const answers = [Promise.resolve('old'), new Promise<string>(() => {})];
    const read = createFresh(() => answers.shift() ?? Promise.reject(new Error('no more')), {
      maxAgeMs: 0,
      patienceMs: 1,
    });
    expect((await read()).value).toBe('old');
    expect(await read()).toMatchObject({ value: 'old', error: undefined });
  });

  it('keeps the last value beside the reason why there is no newer one', async () => {
    const answers = [Promise.resolve('old'), Promise.reject(new Error('the API is away'))];
    const read = createFresh(() => answers.shift() as Promise<string>, { maxAgeMs: 0, patienceMs: 60_000 });
    await read();
    expect(await read()).toEqual({
      value: 'old',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      error: 'the API is away',
    });
  });
});
