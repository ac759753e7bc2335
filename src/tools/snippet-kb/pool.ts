/**
 * Runs `work` for each item, at most `width` at a time. The first failure stops the taking of new items and is
 * thrown when those under way have ended.
 */
export async function eachOf<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  let failed = false;
  const worker = async () => {
    for (const item of queue) {
      if (failed) return;
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: width }, worker));
  const failure = ended.find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
}
