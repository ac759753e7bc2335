import { ToolError, messageOf } from '../../core/errors.ts';
import { orAborted } from '../../net/or-aborted.ts';

export interface Finding {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  /** What was found. */
  detail: string;
  /** What to do about it. */
  mend?: string;
}

/** One question, and how it is answered; it may throw, and is left alone after `LONGEST_MS`. */
export interface Check {
  name: string;
  run: (signal: AbortSignal) => Promise<Finding | Finding[]>;
}

export const LONGEST_MS = 5_000;

export const ok = (name: string, detail: string): Finding => ({ name, status: 'ok', detail });
export const warn = (name: string, detail: string, mend?: string): Finding =>
  found('warn', name, detail, mend);
export const fail = (name: string, detail: string, mend?: string): Finding =>
  found('fail', name, detail, mend);

function found(status: Finding['status'], name: string, detail: string, mend: string | undefined): Finding {
  return { name, status, detail, ...(mend !== undefined && { mend }) };
}

/** Runs a check to its end, whatever that is: what it throws, and silence, are findings too. */
export async function settle({ name, run }: Check): Promise<Finding[]> {
  const signal = AbortSignal.timeout(LONGEST_MS);
  try {
    // A check may ignore its signal; nobody waits for it then.
    return [await orAborted(run(signal), signal)].flat();
  } catch (error) {
    if (signal.aborted && error === signal.reason) {
      return [
        fail(
          name,
          `no answer within ${LONGEST_MS / 1000} s`,
          'Run the doctor again; if it stays so, look at what it asks.',
        ),
      ];
    }
    return [failure(name, error)];
  }
}

/** A failure with its own hint as the mend. */
export function failure(name: string, error: unknown): Finding {
  return fail(name, messageOf(error), error instanceof ToolError ? error.details.hint : undefined);
}

/** `ok    name: what was found → the mend`, on one line whatever others have said. */
export function lineOf({ name, status, detail, mend }: Finding): string {
  const text = `${name}: ${detail}${mend === undefined ? '' : ` → ${mend}`}`;
  return `${status.padEnd(5)} ${text.replaceAll(/[\p{C}\s]+/gu, ' ').trim()}`;
}
