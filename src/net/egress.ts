import { lookup as systemLookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';

import type { Dispatcher, Pool, buildConnector } from 'undici';

import { isSameAddress, literalAddress } from './address.ts';
import { orAborted } from './or-aborted.ts';

/** All addresses of a name, as text. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

export interface EgressOptions {
  /** Called with every address a host has, before anything is sent; throws to forbid it. */
  vet: (url: URL, address: string) => void;
  /** Default: the system's resolver, hosts file included. */
  resolve?: Resolver;
  /** PEM of the authorities to trust instead of the system's. */
  ca?: string;
  /** For TCP and TLS together; 10 s when absent. */
  connectTimeoutMs?: number;
}

export interface EgressRequest {
  /** The very object that was judged; nothing parses the address again. */
  url: URL;
  method: string;
  headers: Record<string, string>;
  body?: string | undefined;
  signal: AbortSignal;
}

export interface EgressResponse {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As sent, content encodings included. Must be read to its end, destroyed or dumped. */
  body: Dispatcher.ResponseData['body'];
}

/** The way out: every connection goes to an address that was vetted, and to no other. */
export interface Egress {
  /** Sends one request; redirects come back as answers. @throws whatever `vet`, the resolver or undici throw */
  send(request: EgressRequest): Promise<EgressResponse>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTIONS_PER_ORIGIN = 16;
const MOST_ORIGINS = 64;
/** How long a vetted answer of the resolver serves for further connections. */
const FRESH_MS = 10_000;

interface Route {
  pool: Pool;
  addresses: readonly string[];
  vettedAt: number;
}

/** The address a connection reached is none of those that were vetted. */
export class UnvettedAddressError extends Error {
  readonly code = 'UNVETTED_ADDRESS';
}

export function createEgress(options: EgressOptions): Egress {
  const resolve = options.resolve ?? resolveBySystem;
  const routes = new Map<string, Route>();

  async function routeTo(url: URL, signal: AbortSignal): Promise<Pool> {
    const known = routes.get(url.origin);
    if (known && performance.now() - known.vettedAt < FRESH_MS) {
      // What may be reached can have changed since: the settings are read again on SIGHUP.
      for (const address of known.addresses) options.vet(url, address);
      return known.pool;
    }
    // Before the look-up: nothing may come between the vetting of its answer and the pool that is bound to it.
    const undici = await import('undici');
    // The resolver cannot be stopped, but nobody has to wait for it.
    // Asked once: a second look-up could answer with another address than the one that was vetted.
    const literal = literalAddress(url.hostname);
    const addresses = literal === undefined ? await orAborted(resolve(url.hostname), signal) : [literal];
    if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
    for (const address of addresses) options.vet(url, address);

    // Another call may have opened the route while this one waited for the resolver.
    const current = routes.get(url.origin);
    const vettedAt = performance.now();
    if (current && isSameSet(current.addresses, addresses)) {
      current.vettedAt = vettedAt;
      return current.pool;
    }
    drop(url.origin);
    const oldest = routes.size >= MOST_ORIGINS ? routes.keys().next().value : undefined;
    if (oldest !== undefined) drop(oldest);
    const pool = new undici.Pool(url.origin, {
      connect: pinned(undici.buildConnector, addresses, options),
      connections: CONNECTIONS_PER_ORIGIN,
      // The caller's signal bounds the whole; undici's own timers would only blur the message.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    routes.set(url.origin, { pool, addresses, vettedAt });
    return pool;
  }

  /** Requests under way on the route end in peace. */
  function drop(origin: string): void {
    const route = routes.get(origin);
    routes.delete(origin);
    route?.pool.close().catch(() => {});
  }

  return {
    async send({ url, method, headers, body, signal }) {
      signal.throwIfAborted();
      const pool = await routeTo(url, signal);
      const response = await pool.request({
        path: url.pathname + url.search,
        method: method as Dispatcher.HttpMethod,
        headers,
        body: body ?? null,
        signal,
      });
      return { status: response.statusCode, headers: response.headers, body: response.body };
    },
    async close() {
      const open = [...routes.values()];
      routes.clear();
      // Not `pool.close`, which would wait for an answer that may never come.
      await Promise.all(open.map(({ pool }) => pool.destroy()));
    },
  };
}

/** Connects to the given addresses only, whatever the name resolves to by now; the first that answers is taken. */
function pinned(
  build: typeof buildConnector,
  addresses: readonly string[],
  options: EgressOptions,
): buildConnector.connector {
  const lookup: LookupFunction = (_hostname, { all }, callback) => {
    const list = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    // Happy eyeballs asks for all; without them Node takes one.
    if (all) callback(null, list);
    else callback(null, list[0]?.address ?? '', list[0]?.family);
  };
  const connect = build({
    lookup,
    autoSelectFamily: true,
    timeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    rejectUnauthorized: true,
    ...(options.ca !== undefined && { ca: options.ca }),
  } as buildConnector.BuildOptions);
  return (target, callback) => {
    connect(target, (...[error, socket]) => {
      if (error) return callback(error, null);
      const reached = socket.remoteAddress ?? '';
      if (addresses.some((address) => isSameAddress(address, reached))) return callback(null, socket);
      socket.destroy();
      return callback(new UnvettedAddressError(`connected to ${reached}`), null);
    });
  };
}

async function resolveBySystem(hostname: string): Promise<string[]> {
  const found = await systemLookup(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((address) => other.includes(address));
}
