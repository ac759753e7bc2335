/**
 * Loads what the first answers do without, so that the first call does not wait for it. The parts import these
 * clients when they need them; who loads them earlier makes every start longer.
 */
export async function loadDeferred(): Promise<void> {
  await Promise.all([import('ssh2'), import('undici'), import('../metrics/registers.ts')]);
}
