import { ToolError } from '../core/errors.ts';

/** The allowances of the API that are counted apart; searches have 30 a minute, searches of code 10. */
export type Allowance = 'core' | 'search' | 'code_search' | 'graphql';

/** What is left of an allowance, as the API told last. */
export interface RateLimit {
  remaining: number;
  /** ISO 8601, UTC, by the API's clock. */
  resets_at: string;
}

/** Only what is needed of a response's headers. */
export interface HeaderReader {
  get(name: string): string | null;
}

/** Remembers what the API said of its limits, so that a request bound to be refused is not sent. */
export interface RateLimits {
  /** Requests left when the API last told; undefined before it has. */
  remaining(allowance: Allowance): number | undefined;
  /** @throws ToolError `rate_limited` while the API has asked to wait */
  check(allowance: Allowance): void;
  /** Takes note of an answer's headers; null where the API states no limit (an enterprise server may have none). */
  note(allowance: Allowance, headers: HeaderReader): RateLimit | null;
  /** The error of an answer that refuses for a limit, remembered; undefined when the answer says something else. */
  refusal(allowance: Allowance, status: number, headers: HeaderReader, said: string): ToolError | undefined;
}

const WHAT: Record<Allowance, string> = {
  core: '',
  search: ' for searches',
  code_search: ' for searches of code (10 a minute)',
  graphql: ' for GraphQL',
};
const SECONDARY_WAIT_SECONDS = 60;
/** A reset further away than the API's own window is a clock or a proxy gone wrong: it must not lock us out. */
const LONGEST_WAIT_SECONDS = 3600;

export function createRateLimits(host: string, now: () => number = Date.now): RateLimits {
  const left = new Map<Allowance, number>();
  const closedUntil = new Map<Allowance | 'all', number>();

  function limited(allowance: Allowance, seconds: number, said: string): ToolError {
    return new ToolError('rate_limited', `The limit of ${host}${WHAT[allowance]} is reached${said}.`, {
      hint: `Wait ${seconds} s before the next call.`,
      retryAfterSeconds: seconds,
    });
  }

  return {
    remaining: (allowance) => left.get(allowance),

    check(allowance) {
      const until = Math.max(closedUntil.get(allowance) ?? 0, closedUntil.get('all') ?? 0);
      if (until > now()) throw limited(allowance, Math.ceil((until - now()) / 1000), '');
    },

    note(allowance, headers) {
      const remaining = wholeNumber(headers.get('x-ratelimit-remaining'));
      const reset = wholeNumber(headers.get('x-ratelimit-reset'));
      if (remaining === undefined || reset === undefined) return null;
      left.set(allowance, remaining);
      if (remaining > 0) closedUntil.delete(allowance);
      else closedUntil.set(allowance, now() + secondsUntil(reset, headers, now()) * 1000);
      return { remaining, resets_at: new Date(reset * 1000).toISOString() };
    },

    refusal(allowance, status, headers, said) {
      if (status !== 403 && status !== 429) return undefined;
      const retryAfter = retryAfterSeconds(headers, now());
      if (retryAfter === undefined && headers.get('x-ratelimit-remaining') === '0') {
        const reset = wholeNumber(headers.get('x-ratelimit-reset'));
        const seconds = reset === undefined ? SECONDARY_WAIT_SECONDS : secondsUntil(reset, headers, now());
        return limited(allowance, seconds, said);
      }
      const secondary = retryAfter !== undefined || status === 429 || /rate limit|abuse/i.test(said);
      if (!secondary) return undefined;
      // It counts all of the account's requests, and going on during it is what gets tokens blocked.
      const seconds = retryAfter ?? SECONDARY_WAIT_SECONDS;
      closedUntil.set('all', now() + seconds * 1000);
      return limited('core', seconds, said);
    },
  };
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}

/** Seconds until a moment of the API's clock, which its Date header shows; ours may be wrong. */
function secondsUntil(reset: number, headers: HeaderReader, now: number): number {
  const apiNow = Date.parse(headers.get('date') ?? '');
  const seconds = Math.ceil(reset - (Number.isNaN(apiNow) ? now : apiNow) / 1000);
  return Math.min(Math.max(seconds, 1), LONGEST_WAIT_SECONDS);
}

/** Seconds from a Retry-After header, which is a number of seconds or a date. */
function retryAfterSeconds(headers: HeaderReader, now: number): number | undefined {
  const header = headers.get('retry-after');
  if (header === null) return undefined;
  const seconds = wholeNumber(header) ?? Math.ceil((Date.parse(header) - now) / 1000);
  if (Number.isNaN(seconds)) return SECONDARY_WAIT_SECONDS;
  return Math.min(Math.max(seconds, 1), LONGEST_WAIT_SECONDS);
}
