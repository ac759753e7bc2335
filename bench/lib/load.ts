import { createConnection, type Socket } from 'node:net';

import { quantile } from './bench.ts';

export interface Load {
  port: number;
  /** The bytes of one HTTP/1.1 request that keeps its connection. */
  request: Buffer;
  connections: number;
  /** How many requests to send in all, or for how long. */
  amount: { requests: number } | { ms: number };
}

export interface LoadResult {
  /** Answers a second. */
  rate: number;
  /** In ms. */
  p50: number;
  p99: number;
  answered: number;
}

/** A POST of JSON as `request`, with headers that a real client sends. */
export function jsonPost(path: string, headers: Readonly<Record<string, string>>, body: unknown): Buffer {
  const text = JSON.stringify(body);
  const all = {
    host: 'localhost',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'content-length': String(Buffer.byteLength(text)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`);
}

/**
 * Keeps `connections` sockets busy with one request each at a time, and measures. Bare sockets, because a generator
 * with a client library would be slower than the servers it measures.
 * @throws when an answer is not 200, or a connection ends
 */
export async function load({ port, request, connections, amount }: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  const from = performance.now();
  const until = 'ms' in amount ? from + amount.ms : Number.POSITIVE_INFINITY;
  let left = 'requests' in amount ? amount.requests : Number.POSITIVE_INFINITY;
  await Promise.all(
    Array.from(
      { length: connections },
      () =>
        new Promise<void>((resolve, reject) => {
          const socket = createConnection({ port, host: '127.0.0.1', noDelay: true });
          let sent = 0;
          const next = () => {
            if (left <= 0 || performance.now() >= until) {
              socket.removeAllListeners('close').destroy();
              resolve();
              return;
            }
            left -= 1;
            sent = performance.now();
            socket.write(request);
          };
          answers(socket, reject, () => {
            latencies.push(performance.now() - sent);
            next();
          });
          socket.on('connect', next).on('error', reject);
          socket.on('close', () => reject(new Error('the server closed a connection under load')));
        }),
    ),
  );
  const seconds = (performance.now() - from) / 1_000;
  return {
    rate: latencies.length / seconds,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    answered: latencies.length,
  };
}

/** Calls `done` after each whole HTTP answer; knows answers with a length and chunked ones. */
function answers(socket: Socket, fail: (error: Error) => void, done: () => void): void {
  let held = Buffer.alloc(0);
  /** Bytes of the answer still to come; undefined before its head is read, -1 where it is chunked. */
  let missing: number | undefined;
  socket.on('data', (chunk) => {
    if (missing === undefined) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const end = held.indexOf('\r\n\r\n');
      if (end === -1) return;
      const head = held.toString('latin1', 0, end);
      if (!head.startsWith('HTTP/1.1 200')) {
        fail(new Error(`answered ${held.toString('latin1').slice(0, 400)}`));
        return;
      }
      const length = /content-length: (\d+)/i.exec(head)?.[1];
      missing = length === undefined ? -1 : Number(length) - (held.length - end - 4);
    } else if (missing >= 0) {
      missing -= chunk.length;
    } else {
      held = chunk;
    }
    // The generator sends nothing before an answer is whole, so that its last bytes end a chunk of data.
    if (missing === 0 || (missing === -1 && held.subarray(-5).equals(LAST_CHUNK))) {
      missing = undefined;
      held = Buffer.alloc(0);
      done();
    }
  });
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n');
