import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import type { Hono } from 'hono';

import type { StandinEnv } from './control.ts';

export interface Listening {
  /** Base address, without a slash at its end. */
  url: string;
  /** Stops at once, requests that were made to hang included. */
  close(): Promise<void>;
}

/** Serves an app over plain HTTP; port 0 takes any free one. */
export async function listen(app: Hono<StandinEnv>, port = 0, hostname = '127.0.0.1'): Promise<Listening> {
  const server = await new Promise<ServerType>((resolve, reject) => {
    const starting = serve({ fetch: app.fetch, port, hostname }, () => resolve(starting));
    starting.once('error', reject);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${hostname}:${taken}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}
