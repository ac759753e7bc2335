import { connect, type Socket } from 'node:net';

import { stack } from '../../support/stack.ts';
import { type Door, open } from '../lib/edge-doors.ts';
import { request } from './edge-request.ts';

/** A client that takes its time. */
export interface SlowKind {
  name: string;
  doors: readonly Door[];
  /** Whether the limits that end it are those of seconds, for the short form. */
  soon: boolean;
  start(door: Door): Promise<Socket>;
}

const BOTH: readonly Door[] = ['caddy', 'port'];
const SLOWLY_MS = 1_000;

/** Writes the text, and then the rest of it one byte a second for as long as somebody takes it. */
function drip(socket: Socket, at: number, text: string): Socket {
  socket.write(text.slice(0, at));
  let next = at;
  const timer = setInterval(() => {
    if (socket.writable) socket.write(text[next++ % text.length] ?? '');
  }, SLOWLY_MS);
  socket.once('close', () => clearInterval(timer));
  return socket;
}

const toCaddy = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(stack.base).port), 'localhost', () => resolve(socket));
    socket.once('error', reject);
  });

const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { x: 'x'.repeat(2_000) } });
const RIGHT = `/mcp?token=${stack.secret}`;

/**
 * What went wrong elsewhere: a limit on each read in place of one on the whole request, which a byte now and then
 * keeps from ever ending; none at all before the first byte, or for the handshake, or between two requests.
 */
export const SLOW_KINDS: readonly SlowKind[] = [
  { name: 'a connection without a word', doors: ['caddy'], soon: true, start: toCaddy },
  {
    name: 'half a handshake',
    doors: ['caddy'],
    soon: true,
    start: async () => {
      const socket = await toCaddy();
      // The beginning of a ClientHello that announces 512 bytes.
      socket.write(Buffer.from('16030102000100', 'hex'));
      return socket;
    },
  },
  { name: 'no request', doors: BOTH, soon: true, start: (door) => open(door) },
  {
    name: 'a head, byte by byte',
    doors: BOTH,
    soon: true,
    start: async (door) =>
      drip(await open(door), 30, request({ target: RIGHT, headers: [`X: ${'x'.repeat(500)}`] })),
  },
  {
    name: 'a head that stops',
    doors: BOTH,
    soon: true,
    start: async (door) => {
      const socket = await open(door);
      socket.write(request({ target: RIGHT }).slice(0, 40));
      return socket;
    },
  },
  {
    name: 'a body, byte by byte',
    doors: BOTH,
    soon: false,
    start: async (door) => {
      const text = request({ target: RIGHT, body: BODY });
      return drip(await open(door), text.length - 1_500, text);
    },
  },
  {
    name: 'a body without the secret, byte by byte',
    doors: BOTH,
    soon: false,
    start: async (door) => {
      const text = request({ body: BODY });
      return drip(await open(door), text.length - 1_500, text);
    },
  },
  {
    name: 'nothing after an answer',
    doors: BOTH,
    soon: false,
    start: async (door) => {
      const socket = await open(door);
      socket.write(request({ method: 'GET', target: `/health?token=${stack.secret}` }));
      return socket;
    },
  },
];
