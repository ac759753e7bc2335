/** Resolves once `probe` says so; it is asked again and again, without a fixed pause between tests. */
export async function until(what: string, probe: () => Promise<boolean>, seconds = 60): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (!(await probe().catch(() => false))) {
    if (Date.now() > end) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
