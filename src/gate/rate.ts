/** How many minutes' worth of calls may come at once after a quiet time. */
const BURST_MINUTES = 5;
const MINUTE_MS = 60_000;

/** A token bucket: calls flow at a steady rate, and what a quiet time saved up may be spent in a burst. */
export interface Bucket {
  /** Milliseconds until a call may be made: 0 for now. */
  waitMs(): number;
  /** Spends one call's token; to be asked for by `waitMs` first. */
  take(): void;
}

/**
 * Starts full, so that a restart holds nobody back.
 * @param perMinute read afresh each time, as a reload may change it; 0 is no limit
 * @param now a clock in milliseconds that never goes back: one that is set could hand out an hour's calls at once
 */
export function createBucket(perMinute: () => number, now: () => number): Bucket {
  let rate = perMinute();
  let tokens = rate * BURST_MINUTES;
  let at = now();

  /** Puts in what has flowed since the last look. */
  function refill(): void {
    const time = now();
    const changed = perMinute();
    // A bucket that had no limit, or another one, starts over: what it held means nothing under the new one.
    if (changed !== rate) tokens = changed * BURST_MINUTES;
    else tokens = Math.min(rate * BURST_MINUTES, tokens + ((time - at) / MINUTE_MS) * rate);
    rate = changed;
    at = time;
  }

  return {
    waitMs() {
      refill();
      if (rate === 0 || tokens >= 1) return 0;
      return ((1 - tokens) / rate) * MINUTE_MS;
    },
    take() {
      if (rate > 0) tokens -= 1;
    },
  };
}
