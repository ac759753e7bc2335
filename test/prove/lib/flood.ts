/** Does `act` as often as said, so many at a time. */
export async function flood(times: number, atOnce: number, act: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < times) await act(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Asks again and again, one at a time, for as long as `during` takes; resolves with how long each answer took. */
export async function timesDuring(during: Promise<unknown>, ask: () => Promise<void>): Promise<number[]> {
  const state = { over: false };
  const end = () => {
    state.over = true;
  };
  during.then(end, end);
  const milliseconds: number[] = [];
  do {
    const from = performance.now();
    await ask();
    milliseconds.push(performance.now() - from);
  } while (!state.over);
  return milliseconds;
}

/** `p50 3 ms, p99 12 ms` */
export function percentiles(milliseconds: readonly number[]): string {
  const sorted = [...milliseconds].sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}
