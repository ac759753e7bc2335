import { type Finding, ok, warn } from './report.ts';

const NAME = 'clock';
const MOST_SECONDS = 30;

/**
 * How far this machine's clock is from those of the APIs, by the Date header of whatever they answer: a request
 * without credentials, whose body is not read. The first API that tells is believed.
 * @param now the wall clock, in milliseconds
 */
export async function checkClock(
  apis: readonly string[],
  signal: AbortSignal,
  now: () => number = Date.now,
): Promise<Finding> {
  const hosts = apis.map((api) => new URL(api).host);
  const answers = await Promise.all(apis.map((api) => skewOf(api, signal, now).catch(() => undefined)));
  const at = answers.findIndex((skew) => skew !== undefined);
  const skew = answers[at];
  if (skew === undefined) {
    return warn(NAME, `not compared: no time from ${hosts.join(', ')}`, 'See the lines of the APIs.');
  }
  const by = `by the clock of ${hosts[at]}`;
  if (Math.abs(skew) <= MOST_SECONDS) return ok(NAME, `right within ${MOST_SECONDS} s ${by}`);
  const found = `${Math.round(Math.abs(skew))} s ${skew > 0 ? 'behind' : 'ahead'} ${by}`;
  return warn(
    NAME,
    found,
    'Set the host’s clock (timedatectl set-ntp true): audit times and certificates rely on it.',
  );
}

/** Seconds that the other clock is ahead of ours, to within about a second. */
async function skewOf(api: string, signal: AbortSignal, now: () => number): Promise<number | undefined> {
  const before = now();
  const response = await fetch(api, { method: 'HEAD', redirect: 'manual', signal });
  const middle = (before + now()) / 2;
  const theirs = Date.parse(response.headers.get('date') ?? '');
  return Number.isNaN(theirs) ? undefined : (theirs - middle) / 1000;
}
