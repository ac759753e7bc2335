import { messageOf } from '../core/errors.ts';

/** A reading, and how it went. */
export interface Reading<T> {
  /** The last one that succeeded. */
  value: T | undefined;
  /** When that was; ISO 8601, UTC. */
  at: string | undefined;
  /** Why the last attempt failed. */
  error: string | undefined;
}

export interface FreshOptions {
  /** A reading older than this is renewed when somebody asks. */
  maxAgeMs: number;
  /** The longest that a page waits for one; it then shows what there was before. */
  patienceMs: number;
}

/**
 * Makes a value of an outside system cheap to show: nothing is asked while nobody looks, one request serves all
 * who look, and a system that hangs does not hold up the page.
 */
export function createFresh<T>(
  load: () => Promise<T>,
  { maxAgeMs, patienceMs }: FreshOptions,
): () => Promise<Reading<T>> {
  const reading: Reading<T> = { value: undefined, at: undefined, error: undefined };
  let asked = Number.NEGATIVE_INFINITY;
  let underWay: Promise<void> | undefined;

  async function renew(): Promise<void> {
    try {
      reading.value = await load();
      reading.at = new Date().toISOString();
      reading.error = undefined;
    } catch (error) {
      reading.error = messageOf(error);
    } finally {
      underWay = undefined;
    }
  }

  return async () => {
    if (underWay === undefined && performance.now() - asked >= maxAgeMs) {
      asked = performance.now();
      underWay = renew();
    }
    if (underWay !== undefined) {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, patienceMs);
      });
      await Promise.race([underWay, patience]);
      clearTimeout(timer);
    }
    return { ...reading };
  };
}
