import { expect, test } from 'vitest';

/** One line of the table that `npm run prove` prints. */
export interface Row {
  /** The part it is about: `edge`, `ssh_exec`, `audit`, … */
  part: string;
  /** What must be true, as a short sentence. */
  guarantee: string;
  /** How often it was tried. */
  tries: number;
  /** What broke it, one text a failure, without secrets. Any failure fails the test. */
  failures: string[];
  /** Measured on the way, such as `health p99 12 ms`. */
  figures?: string;
  /** What is known not to be caught, to be published beside what is. */
  missed?: string[];
}

declare module 'vitest' {
  interface TaskMeta {
    row?: Row;
  }
}

const HOUR = 3_600_000;

/** Whether this is `npm run prove`, with every try, rather than the short form within `npm test`. */
export const whole = process.env['PROVE'] === 'whole';

/** How often to try: `all` under `npm run prove`, `few` within `npm test`. */
export const tries = (all: number, few: number): number => (whole ? all : few);

/**
 * Declares a guarantee and how it is tried. The row reaches the table whether it holds or not; a run that throws
 * counts as one failure of the guarantee.
 */
export function prove(
  part: string,
  guarantee: string,
  run: () => Promise<Omit<Row, 'part' | 'guarantee'>>,
): void {
  const options = { timeout: whole ? 3 * HOUR : 180_000, retry: 0 };
  test(`${part}: ${guarantee}`, options, async ({ task }) => {
    task.meta.row = { part, guarantee, tries: 0, failures: ['did not finish'] };
    const outcome = await run();
    task.meta.row = { part, guarantee, ...outcome };
    expect(outcome.tries, 'a guarantee that was never tried').toBeGreaterThan(0);
    expect(outcome.failures.slice(0, 20)).toEqual([]);
  });
}
