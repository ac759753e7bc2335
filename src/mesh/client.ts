import { type ErrorCode, ToolError } from '../core/errors.ts';
import type { Mesh } from './device.ts';
import { type Directory, createDirectory } from './directory.ts';
import { createHeadscale } from './headscale.ts';
import { createNetbird } from './netbird.ts';
import type { Provider, ProviderSettings } from './provider.ts';
import type { MeshSettings } from './settings.ts';
import { createTailscale } from './tailscale.ts';

export interface MeshOptions {
  /** How long an answer of the API counts as current. */
  cacheMs?: number;
  /** The longest that one reading of the network may take, all its requests together. */
  timeoutMs?: number;
  /** The largest answer that is read. */
  maxBytes?: number;
  /** A clock in milliseconds that only ever grows. */
  now?: () => number;
}

/** How old a list may be that still resolves a name while the API fails. */
const STALE_MS = 60_000;

/** Failures of the API, as opposed to its refusals: a revoked key must stop working at once. */
const OUTAGES: readonly ErrorCode[] = [
  'rate_limited',
  'timeout',
  'upstream_error',
  'connection_refused',
  'too_large',
];

/**
 * The client of the mesh network's management API.
 *
 * All callers share one request at a time and its answer for `cacheMs`; a failure is never kept, except that the
 * API is left alone for as long as a 429 asks. While the API fails, `device` still resolves names from a list up
 * to a minute old, because a command should not fail over a hiccup of the API and the connection itself shows
 * whether the device is there. `devices` never does: what it returns is reported as the network's state.
 *
 * @throws Error with a sentence for the operator when the settings don't fit together
 */
export function createMesh(settings: MeshSettings, options: MeshOptions = {}): Mesh {
  const {
    cacheMs = 5_000,
    timeoutMs = 10_000,
    maxBytes = 32 * 1024 * 1024,
    now = () => performance.now(),
  } = options;
  const provider = createProvider(settings, now);
  let latest: { directory: Directory; at: number } | undefined;
  let underWay: Promise<Directory> | undefined;
  let refusedUntil: number | undefined;

  async function read(): Promise<Directory> {
    const at = now();
    try {
      const listed = await provider.list({ signal: AbortSignal.timeout(timeoutMs), timeoutMs, maxBytes });
      latest = { directory: createDirectory(listed), at };
      return latest.directory;
    } catch (error) {
      if (error instanceof ToolError && error.code === 'rate_limited') {
        refusedUntil = now() + (error.details.retryAfterSeconds ?? 0) * 1000;
      }
      throw error;
    } finally {
      underWay = undefined;
    }
  }

  async function current(signal: AbortSignal): Promise<Directory> {
    if (latest && now() - latest.at < cacheMs) return latest.directory;
    if (refusedUntil !== undefined && now() < refusedUntil) throw leftAlone(refusedUntil - now());
    // The request belongs to all who wait for it: one who leaves must not end it for the others.
    underWay ??= read();
    return unlessAborted(underWay, signal);
  }

  return {
    get network() {
      if (settings.network !== '-') return settings.network;
      return latest?.directory.dnsSuffix ?? settings.provider;
    },
    async devices(signal) {
      return (await current(signal)).devices;
    },
    async device(name, signal) {
      let directory: Directory;
      try {
        directory = await current(signal);
      } catch (error) {
        const outage = error instanceof ToolError && OUTAGES.includes(error.code);
        if (!outage || !latest || now() - latest.at >= STALE_MS) throw error;
        try {
          return latest.directory.find(name);
        } catch {
          // An old list can't say that a device does not exist.
          throw error;
        }
      }
      return directory.find(name);
    },
  };
}

function createProvider(settings: MeshSettings, now: () => number): Provider {
  const { apiKey, network } = settings;
  // Checked here because fetch would put the key into its message.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new Error('MESH_API_KEY holds a space, a line break or another character that no API key has.');
  }
  const parts = (fallback: string): ProviderSettings => ({
    apiUrl: apiUrl(settings, fallback),
    apiKey,
    network,
  });
  switch (settings.provider) {
    case 'headscale':
      return createHeadscale(parts(''));
    case 'netbird':
      return createNetbird(parts('https://api.netbird.io'));
    case 'tailscale':
    default:
      return createTailscale(parts('https://api.tailscale.com'), now);
  }
}

function apiUrl(settings: MeshSettings, fallback: string): URL {
  const given = settings.apiUrl || fallback;
  if (given === '') throw new Error(`MESH_API_URL must be set for ${settings.provider}.`);
  if (!URL.canParse(given)) throw new Error('MESH_API_URL is not a valid URL.');
  const url = new URL(given);
  if (url.username !== '' || url.password !== '') {
    throw new Error('MESH_API_URL must not hold a user name or password; the key belongs in MESH_API_KEY.');
  }
  return url;
}

function leftAlone(forMs: number): ToolError {
  const retryAfterSeconds = Math.max(1, Math.ceil(forMs / 1000));
  return new ToolError('rate_limited', 'The mesh network’s API asked for a pause, which is not over yet.', {
    hint: `Ask again in ${retryAfterSeconds} s.`,
    retryAfterSeconds,
  });
}

/** Waits for `work`, but no longer than `signal` allows. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      const { reason } = signal as { reason: unknown };
      reject(reason instanceof ToolError ? reason : new ToolError('cancelled', 'The call was cancelled.'));
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
}
