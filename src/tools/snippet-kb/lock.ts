/** Makes work on one key take turns; work on different keys runs side by side. */
export type Lock = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createLock(): Lock {
  const tails = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = tails.get(key);
    const run = (async () => {
      await before?.catch(() => {});
      return work();
    })();
    tails.set(key, run);
    try {
      return await run;
    } finally {
      if (tails.get(key) === run) tails.delete(key);
    }
  };
}
