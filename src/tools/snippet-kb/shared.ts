/**
 * Runs of work that several callers may wait for: while one with that name is under way, others join it. A caller
 * that leaves ends its own waiting, not the work.
 */
export interface Shared {
  (name: string, signal: AbortSignal, work: () => Promise<void>): Promise<void>;
  /** Waits for all that is under way. */
  settled(): Promise<void>;
}

/** @param stop when aborted, no new work begins */
export function createShared(stop: AbortSignal): Shared {
  const underWay = new Map<string, Promise<void>>();

  function start(name: string, work: () => Promise<void>): Promise<void> {
    const run = work().finally(() => underWay.delete(name));
    // Whoever waits gets the failure; nobody may be waiting.
    run.catch(() => {});
    underWay.set(name, run);
    return run;
  }

  const shared = async (name: string, signal: AbortSignal, work: () => Promise<void>) => {
    stop.throwIfAborted();
    await unlessAborted(underWay.get(name) ?? start(name, work), signal);
  };
  return Object.assign(shared, {
    settled: async () => void (await Promise.allSettled(underWay.values())),
  });
}

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let leave = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([promise, left]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
