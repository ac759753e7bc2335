import { type IncomingMessage, type RequestListener, createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, type Socket, createServer as createTcpServer } from 'node:net';

import type { Certificate } from './fetch-ca.ts';

export interface Site {
  port: number;
  /** Every request that came, in order. */
  requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
  /** TCP connections that were ever made to it. */
  connections(): number;
  close(): Promise<void>;
}

interface Listener {
  listen(port: number, host: string, then: () => void): unknown;
  address(): AddressInfo | string | null;
  close(then: () => void): unknown;
  on(event: 'connection', then: (socket: Socket) => void): unknown;
}

async function open(server: Listener, requests: Site['requests'], host: string, port = 0): Promise<Site> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** An HTTP server on a loopback address, an HTTPS one with a certificate. */
export function openSite(
  handle: RequestListener,
  options: { tls?: Certificate; host?: string; port?: number } = {},
): Promise<Site> {
  const requests: Site['requests'] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      handle(request, response);
    });
  };
  const server = options.tls ? createSecureServer(options.tls, listener) : createServer(listener);
  return open(server, requests, options.host ?? '127.0.0.1', options.port);
}

/** A server that says what `talk` says, HTTP or not, when the first bytes have come. */
export function openRaw(talk: (socket: Socket) => void): Promise<Site> {
  return open(
    createTcpServer((socket) => socket.once('data', () => talk(socket))),
    [],
    '127.0.0.1',
  );
}
