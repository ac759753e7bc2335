import { describe, expect, it } from 'vitest';

import { createBucket } from './rate.ts';

/** A bucket of `perMinute` calls whose clock and rate the test turns. */
function bucketOf(perMinute: number) {
  const world = { perMinute, ms: 1_000 };
  const bucket = createBucket(
    () => world.perMinute,
    () => world.ms,
  );
  /** Takes as many as there are, 10,000 at most. */
  const drain = () => {
    let taken = 0;
    for (; taken < 10_000 && bucket.waitMs() === 0; taken++) bucket.take();
    return taken;
  };
  return { world, bucket, drain };
}

describe('a rate', () => {
  it('lets five minutes’ worth through at once, and then the steady flow', () => {
    const { world, drain } = bucketOf(60);
    expect(drain()).toBe(300);
    world.ms += 1_000;
    expect(drain()).toBe(1);
    world.ms += 60_000;
    expect(drain()).toBe(60);
  });

  it('saves up no more than a burst, however long the quiet was', () => {
    const { world, drain } = bucketOf(60);
    expect(drain()).toBe(300);
    world.ms += 24 * 3_600_000;
    expect(drain()).toBe(300);
  });

  it('tells the wait until the next call', () => {
    const { world, bucket, drain } = bucketOf(6);
    drain();
    expect(bucket.waitMs()).toBe(10_000);
    world.ms += 4_000;
    expect(bucket.waitMs()).toBeCloseTo(6_000);
    world.ms += 6_000;
    expect(bucket.waitMs()).toBe(0);
  });

  it('of 0 is no limit', () => {
    expect(bucketOf(0).drain()).toBe(10_000);
  });

  it('that is changed holds from the next call, in either direction', () => {
    const { world, drain } = bucketOf(60);
    world.perMinute = 2;
    expect(drain()).toBe(10);
    world.perMinute = 0;
    expect(drain()).toBe(10_000);
    world.perMinute = 1;
    expect(drain()).toBe(5);
  });
});
