import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, it } from 'vitest';

import { startTestServer } from '../support/server.ts';

const TEN_MIB = 10 * 1024 * 1024;

it('a body as large as max_bytes allows comes back whole, through the gate', async () => {
  const site = createServer((_, response) => {
    response.setHeader('content-type', 'application/octet-stream').end(Buffer.alloc(TEN_MIB, 0xa5));
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  const { port } = site.address() as AddressInfo;
  const server = await startTestServer({ PROXY_ALLOWED_DOMAINS: '127.0.0.1' });
  const { structuredContent } = await server.call('fetch_external', {
    url: `http://127.0.0.1:${port}/`,
    max_bytes: TEN_MIB,
    format: 'base64',
  });
  await server.close();
  site.close();
  expect(structuredContent).toMatchObject({ status: 200, bytes: TEN_MIB, truncated: false });
  expect(Buffer.from(structuredContent['body'] as string, 'base64')).toHaveLength(TEN_MIB);
});
