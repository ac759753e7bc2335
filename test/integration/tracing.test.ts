import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, it } from 'vitest';

import { startTestServer } from '../support/server.ts';

it('sends a span for each call to the collector that is named', async () => {
  const received: { path: string | undefined; body: string }[] = [];
  const collector = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      received.push({ path: request.url, body });
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  const server = await startTestServer({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  await server.call('mesh_status', {});
  const [{ id } = { id: '' }] = server.audit().filter(({ event }) => event === 'intent');
  await server.close();
  collector.close();

  expect(received.map(({ path }) => path)).toEqual(['/v1/traces']);
  const { resourceSpans } = JSON.parse(received[0]?.body ?? '{}') as {
    resourceSpans: {
      scopeSpans: { spans: { name: string; attributes: { key: string; value: object }[] }[] }[];
    }[];
  };
  const [span] = resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
  expect(span?.name).toBe('tools/call mesh_status');
  expect(span?.attributes).toContainEqual({ key: 'remote_tool_server.call_id', value: { stringValue: id } });
});

it('stops in time when the collector is gone', async () => {
  const server = await startTestServer({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  await server.call('mesh_status', {});
  await server.close();
  expect(server.output()).toContain('"message":"stopped"');
});
