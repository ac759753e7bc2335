import { messageOf } from '../core/errors.ts';
import { VERSION } from '../core/version.ts';

/** Looks at one part the server depends on; resolves with a detail, rejects with the reason it is not well. */
export type HealthCheck = (signal: AbortSignal) => Promise<string>;

export interface Health {
  /** What GET /health answers: exactly the three fields of the specification. */
  brief(): { status: 'ok'; timestamp: string; dry_run: boolean };
  /** With `?verbose=1`: the version, the uptime and each part's state, looked at once in ten seconds. */
  verbose(): Promise<Record<string, unknown>>;
}

interface CheckResult {
  ok: boolean;
  detail: string;
  latency_ms: number;
}

const CHECK_TIMEOUT_MS = 5_000;
const CACHE_MS = 10_000;

export function createHealth(dryRun: () => boolean, checks: Readonly<Record<string, HealthCheck>>): Health {
  const started = performance.now();
  let cached: { at: number; results: Promise<Record<string, CheckResult>> } | undefined;

  const brief = () => ({ status: 'ok' as const, timestamp: new Date().toISOString(), dry_run: dryRun() });

  function results(): Promise<Record<string, CheckResult>> {
    const now = performance.now();
    if (cached === undefined || now - cached.at > CACHE_MS) cached = { at: now, results: runAll(checks) };
    return cached.results;
  }

  return {
    brief,
    verbose: async () => ({
      ...brief(),
      version: VERSION,
      uptime_seconds: Math.floor((performance.now() - started) / 1000),
      checks: await results(),
    }),
  };
}

async function runAll(checks: Readonly<Record<string, HealthCheck>>): Promise<Record<string, CheckResult>> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]): Promise<[string, CheckResult]> => {
      const from = performance.now();
      const latency = () => Math.round(performance.now() - from);
      try {
        const detail = await check(AbortSignal.timeout(CHECK_TIMEOUT_MS));
        return [name, { ok: true, detail, latency_ms: latency() }];
      } catch (error) {
        return [name, { ok: false, detail: messageOf(error), latency_ms: latency() }];
      }
    }),
  );
  return Object.fromEntries(results);
}
