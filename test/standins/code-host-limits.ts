import { apiError } from './code-host.ts';

export interface Allowances {
  /** Requests an hour. */
  core: number;
  /** Searches a minute, those of code apart. */
  search: number;
  code_search: number;
  /** GraphQL queries an hour. */
  graphql: number;
  /** Points a minute of the secondary limit: a read costs 1, a write 5. */
  points: number;
  /** What the secondary limit asks to wait, in seconds; null leaves the header out. */
  retryAfter: number | null;
}

type Resource = 'core' | 'search' | 'code_search' | 'graphql';

const DEFAULTS: Allowances = {
  core: 5000,
  search: 30,
  code_search: 10,
  graphql: 5000,
  points: 900,
  retryAfter: 60,
};
const MINUTE = 60_000;

export function createAllowances(options: Partial<Allowances>, now: () => number) {
  const limits = { ...DEFAULTS, ...options };
  const windows = new Map<Resource | 'points', { used: number; ends: number }>();

  function windowOf(name: Resource | 'points') {
    const known = windows.get(name);
    if (known && known.ends > now()) return known;
    const fresh = { used: 0, ends: now() + (name === 'core' || name === 'graphql' ? 60 * MINUTE : MINUTE) };
    windows.set(name, fresh);
    return fresh;
  }

  const state = (resource: Resource) => {
    const { used, ends } = windowOf(resource);
    const limit = limits[resource];
    return { limit, used, remaining: Math.max(0, limit - used), reset: Math.ceil(ends / 1000), resource };
  };

  return {
    /** Counts a request; the refusal when it is one too many. */
    take(path: string, method: string): Response | undefined {
      if (path === '/rate_limit') return undefined;
      const resource = resourceOf(path);
      const points = windowOf('points');
      const cost = method === 'GET' || resource === 'graphql' ? 1 : 5;
      if (points.used + cost > limits.points) {
        const wait = limits.retryAfter === null ? {} : { 'retry-after': String(limits.retryAfter) };
        const words =
          'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
        return apiError(403, words, undefined, wait);
      }
      if (state(resource).remaining === 0) return apiError(403, 'API rate limit exceeded for user ID 1.');
      points.used += cost;
      windowOf(resource).used += 1;
      return undefined;
    },
    /** The headers of an answer; one that was unchanged is given back. */
    headers(path: string, status: number): [string, string][] {
      const resource = resourceOf(path);
      if (status === 304) windowOf(resource).used -= 1;
      return Object.entries(state(resource)).map(([name, value]) => [`x-ratelimit-${name}`, String(value)]);
    },
    report: () => ({
      resources: { core: state('core'), search: state('search'), code_search: state('code_search') },
      rate: state('core'),
    }),
  };
}

function resourceOf(path: string): Resource {
  if (path === '/graphql') return 'graphql';
  if (path === '/search/code') return 'code_search';
  return path.startsWith('/search/') ? 'search' : 'core';
}
