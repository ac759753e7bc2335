import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, it } from 'vitest';

import { findEndpoint } from './endpoint.ts';

const listen = async (answer: string) => {
  const server = createServer((_request, response) => response.end(answer));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
};

it('a name is resolved, and the port is ours, whatever the browser says of its own address', async () => {
  const { server, port } = await listen(
    '{"Browser":"Chrome/1","webSocketDebuggerUrl":"ws://127.0.0.1:9223/devtools/browser/abc"}',
  );
  const found = await findEndpoint({ cdpHost: 'localhost', cdpPort: port }, AbortSignal.timeout(5000));
  expect(found).toEqual({
    http: `http://127.0.0.1:${port}`,
    webSocket: `ws://127.0.0.1:${port}/devtools/browser/abc`,
    version: 'Chrome/1',
  });
  server.close();
});

it('what is no CDP browser, and nothing at all, are connection_refused with the address', async () => {
  const { server, port } = await listen('{}');
  const ask = () => findEndpoint({ cdpHost: '127.0.0.1', cdpPort: port }, AbortSignal.timeout(5000));
  await expect(ask()).rejects.toMatchObject({
    code: 'connection_refused',
    message: `Connection refused: no browser answers at ws://127.0.0.1:${port} (what answers there is not a CDP browser).`,
  });
  await new Promise((resolve) => server.close(resolve));
  await expect(ask()).rejects.toMatchObject({
    code: 'connection_refused',
    message: `Connection refused: no browser answers at ws://127.0.0.1:${port} (ECONNREFUSED).`,
  });
});
