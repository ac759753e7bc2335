import { readFileSync } from 'node:fs';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import { container, docker, inside, stack } from '../../support/stack.ts';

/** The ways in: the public one, and the server's own port as a container of its network finds it. */
export const DOORS = ['caddy', 'port'] as const;
export type Door = (typeof DOORS)[number];

/** How long a connection may say nothing before its client, for want of an end to wait for, hangs up. */
const PATIENCE_MS = 3_000;
const CA = readFileSync(stack.caFile);

/** The server's address on the network that it shares with Caddy alone; the engine's host can reach it. */
const serverAddress = docker(
  'inspect',
  '--format',
  `{{(index .NetworkSettings.Networks "${stack.project}_edge").IPAddress}}`,
  container('server'),
).then((text) => text.trim());

/** A connection that is ready to be written to; half-closing is left to the caller. */
export async function open(door: Door, protocol = 'http/1.1'): Promise<Socket> {
  const host = door === 'port' ? await serverAddress : 'localhost';
  return new Promise((resolve, reject) => {
    const options = { ca: CA, servername: 'localhost', ALPNProtocols: [protocol], allowHalfOpen: true };
    const socket =
      door === 'port'
        ? connectPlain({ host, port: 3000, allowHalfOpen: true }, () => resolve(socket))
        : connectTls({ ...options, port: Number(new URL(stack.base).port) }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Writes the parts and resolves with all that came back, once the other side has closed or fallen silent. */
export async function exchange(
  door: Door,
  parts: readonly Buffer[],
  { protocol, patience = PATIENCE_MS }: { protocol?: string | undefined; patience?: number } = {},
): Promise<string> {
  const socket = await open(door, protocol);
  const received: Buffer[] = [];
  return new Promise((resolve) => {
    const done = () => {
      socket.destroy();
      resolve(Buffer.concat(received).toString('latin1'));
    };
    socket.on('data', (chunk) => received.push(chunk));
    // A reset is an answer as good as any: what it must not do is run something.
    socket.on('error', done).on('close', done).on('end', done);
    socket.setTimeout(patience, done);
    for (const part of parts) if (socket.writable) socket.write(part);
  });
}

/** The status of each answer in what came back over HTTP/1. */
export const statusesOf = (answer: string): number[] =>
  [...answer.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map(([, status]) => Number(status));

/** Which of these markers reached the audit log or a device, in whatever form. */
export async function reached(prefix: string): Promise<string[]> {
  const [audit, files] = await Promise.all([
    inside(
      'server',
      `grep -oE '${prefix}[a-z0-9-]+' /data/audit/service-audit.log | sort -u || true`,
      '10001',
    ),
    inside('web-1', 'ls /tmp', '1000'),
  ]);
  return [...new Set(`${audit}\n${files}`.match(new RegExp(`${prefix}[a-z0-9-]+`, 'g')) ?? [])];
}

/** A call that leaves a trace in the audit log and a file on a device. */
export const callOf = (marker: string): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: marker,
    method: 'tools/call',
    params: { name: 'ssh_exec', arguments: { device: 'web-1', command: `touch /tmp/${marker}` } },
  });

/** Does the work for each item, a few at a time. */
export async function eachOf<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>) {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}
