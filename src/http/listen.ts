import { once } from 'node:events';
import type { Server } from 'node:http';

import { createAdaptorServer } from '@hono/node-server';

type Fetch = Parameters<typeof createAdaptorServer>[0]['fetch'];

/**
 * Listens with limits for the open internet.
 * @throws the system's error (EADDRINUSE, EACCES, …)
 */
export async function listen(fetch: Fetch, { host, port }: { host: string; port: number }): Promise<Server> {
  const server = createAdaptorServer({
    fetch,
    serverOptions: {
      // Longer than Caddy keeps an idle connection (60 s): whoever closes first must be the proxy, or it sends a
      // request into a connection that is just going away and answers 502.
      keepAliveTimeout: 75_000,
      headersTimeout: 20_000,
      // To receive a whole request; it does not bound how long a call may run.
      requestTimeout: 60_000,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: 16_384,
    },
  }) as Server;
  server.maxConnections = 4_096;
  // Some releases of Node drop the fields after the 2,000th without a word, be it the Origin or the address that
  // Caddy adds. The size above is the limit.
  server.maxHeadersCount = 0;
  // Node knows the address of a closed connection only if it was asked for before. Without, a client that leaves at
  // once would have no address in the audit log.
  server.on('connection', (socket) => void socket.remoteAddress);
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}
