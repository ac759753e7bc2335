import { once } from 'node:events';
import { connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { SECRET, startTestServer, type TestServer } from '../support/server.ts';

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const SIX = ['ssh_exec', 'mesh_status', 'fetch_external', 'code_search', 'snippet_kb', 'browser'];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    ALLOWED_ORIGINS: 'https://inspector.example.org',
    PUBLIC_HOST: 'mcp.example.org',
  });
});
afterAll(() => server.close());

describe('credentials', () => {
  const withToken = (query: string, headers: Record<string, string> = {}) =>
    fetch(`${server.base}/mcp${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(LIST),
    });

  it.each([
    ['no token', '', {}],
    ['an empty token', '?token=', {}],
    ['a wrong token', '?token=wrong', {}],
    ['the token in capitals', `?token=${SECRET.toUpperCase()}`, {}],
    ['the token and a space', `?token=${SECRET}%20`, {}],
    ['two tokens', `?token=${SECRET}&token=wrong`, {}],
    ['a right query and a wrong header', `?token=${SECRET}`, { authorization: 'Bearer wrong' }],
  ])('%s is 401 without a challenge', async (_, query, headers) => {
    const response = await withToken(query, headers);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBeNull();
    expect(await response.json()).toEqual({
      error: 'unauthorized',
      message:
        'Send the shared secret as ?token=, as "Authorization: Bearer" or as x-api-key; exactly one of them, and exactly MCP_SECRET.',
    });
  });

  it.each([
    ['the query', `?token=${SECRET}`, {}],
    ['Authorization', '', { authorization: `Bearer ${SECRET}` }],
    ['x-api-key', '', { 'x-api-key': SECRET }],
    ['the same one twice', `?token=${SECRET}`, { 'x-api-key': SECRET }],
  ])('the secret in %s is accepted', async (_, query, headers) => {
    expect((await withToken(query, headers)).status).toBe(200);
  });

  it('are refused before the body is read', async () => {
    // A server that reads first lets anyone fill its memory, 4 MiB at a time.
    const socket = connect(Number(new URL(server.base).port), '127.0.0.1');
    socket.write(
      'POST /mcp?token=wrong HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 /);
    socket.destroy();
  });

  it('are asked on /health too', async () => {
    expect((await fetch(`${server.base}/health`)).status).toBe(401);
  });
});

describe('GET /health', () => {
  it('answers exactly the three fields', async () => {
    const body = (await (await fetch(`${server.base}/health?token=${SECRET}`)).json()) as Record<
      string,
      unknown
    >;
    expect(Object.keys(body)).toEqual(['status', 'timestamp', 'dry_run']);
    expect(body).toMatchObject({ status: 'ok', dry_run: false });
    expect(body['timestamp']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('tells more when asked', async () => {
    const body = await (await fetch(`${server.base}/health?token=${SECRET}&verbose=1`)).json();
    expect(body).toMatchObject({
      status: 'ok',
      version: '0.1.0',
      uptime_seconds: expect.any(Number),
      checks: {
        mesh: { ok: true, detail: '1 of 2 devices online', latency_ms: expect.any(Number) },
        code_host: { ok: false },
        ssh_key: { ok: false },
        browser: { ok: false },
        audit: { ok: true },
      },
    });
  });
});

describe('GET /metrics', () => {
  it('counts calls in the Prometheus text format, for those who have the secret', async () => {
    await server.call('mesh_status', { device: 'laptop-1' });
    expect((await fetch(`${server.base}/metrics`)).status).toBe(401);
    const response = await fetch(`${server.base}/metrics`, {
      headers: { authorization: `Bearer ${SECRET}` },
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    expect(text).toContain(
      'remote_tool_server_calls_total{tool="mesh_status",outcome="ok",error_code=""} 1\n',
    );
    expect(text).toContain('remote_tool_server_calls_under_way 0\n');
  });
});

describe('paths and methods', () => {
  it.each([
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-authorization-server/mcp',
    '/register',
    '/',
    '/mcp/x',
  ])('%s is a plain 404 without credentials', async (path) => {
    const response = await fetch(`${server.base}${path}`);
    expect(response.status).toBe(404);
    expect(response.headers.get('www-authenticate')).toBeNull();
  });

  it.each(['GET', 'DELETE', 'PUT'])('%s /mcp is 405 with Allow: POST', async (method) => {
    const response = await fetch(server.url, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });
});

describe('Origin', () => {
  const from = (origin: string) =>
    fetch(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify(LIST),
    });

  // What a URL parser makes of it is not what a browser said: the last ones have the right host for a parser only.
  it.each([
    'https://evil.example.com',
    'http://mcp.example.org',
    'https://mcp.example.org.evil.com',
    'null',
    'https://evil.example.com@mcp.example.org',
    'https://mcp.example.org/',
    'https:mcp.example.org',
    'https://MCP.example.org',
  ])('%s is 403', async (origin) => expect((await from(origin)).status).toBe(403));

  it.each(['https://mcp.example.org', 'https://mcp.example.org:8443', 'https://inspector.example.org'])(
    '%s is served',
    async (origin) => expect((await from(origin)).status).toBe(200),
  );
});

describe('POST /mcp', () => {
  it('answers the specification’s own curl with plain JSON and exactly the six tools', async () => {
    const response = await server.post(LIST);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    const { id, result } = (await response.json()) as { id: number; result: { tools: { name: string }[] } };
    expect(id).toBe(1);
    expect(result.tools.map(({ name }) => name)).toEqual(SIX);
  });

  it.each([
    ['not JSON', '{"jsonrpc":', 400, -32700],
    ['empty', '', 400, -32700],
    ['an empty array', '[]', 400, -32600],
    ['a string', '"tools/list"', 400, -32600],
    ['null', 'null', 400, -32600],
    ['another jsonrpc version', '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', 400, -32600],
    ['no jsonrpc', '{"id":1,"method":"tools/list"}', 400, -32600],
    ['no method', '{"jsonrpc":"2.0","id":1}', 400, -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32600],
    ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"nope"}', 200, -32601],
    [
      'an unknown tool',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope"}}',
      200,
      -32602,
    ],
  ])('%s', async (_, body, status, code) => {
    const response = await server.post(body);
    expect([response.status, ((await response.json()) as { error: { code: number } }).error.code]).toEqual([
      status,
      code,
    ]);
  });

  it('refuses a body of 5 MiB with 413', async () => {
    const response = await server.post(`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(5 * 1024 * 1024)}"}`);
    expect(response.status).toBe(413);
  });

  it('refuses another content type with 415', async () => {
    expect((await server.post(LIST, { 'content-type': 'text/plain' })).status).toBe(415);
  });

  it('acknowledges a notification with 202', async () => {
    const response = await server.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(response.status).toBe(202);
    expect(await response.text()).toBe('');
  });

  it('answers a batch, as revisions up to 2025-03-26 have it', async () => {
    const batch = [
      LIST,
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 'p', method: 'ping' },
    ];
    const response = await server.post(batch, { 'mcp-protocol-version': '2025-03-26' });
    const answers = (await response.json()) as { id: unknown }[];
    expect(answers.map(({ id }) => id)).toEqual([1, 'p']);
    const later = await server.post(batch, { 'mcp-protocol-version': '2025-06-18' });
    expect(later.status).toBe(400);
  });

  it('refuses a protocol version that no revision has', async () => {
    const response = await server.post(LIST, { 'mcp-protocol-version': '1999-01-01' });
    expect(response.status).toBe(400);
  });
});

// Node tells no address of a connection that is closed: who leaves early went unnamed into the audit log.
it('the audit knows the address of a client that is gone before its call is read', async () => {
  const params = { name: 'ssh_exec', arguments: { device: 'web-1', command: 'true # left-early' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const socket = connect(Number(new URL(server.base).port), '127.0.0.1');
  // What follows "close" is a fault, for which the server ends the connection while the call is on its way.
  socket.end(
    `POST /mcp?token=${SECRET} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
      `Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}GET / HTTP/1.1\r\n\r\n`,
  );
  await once(socket.resume(), 'close');
  const records = () => server.audit().filter((record) => JSON.stringify(record).includes('left-early'));
  await expect.poll(() => records().length).toBeGreaterThan(0);
  expect(records().map(({ client }) => client?.ip)).toEqual(records().map(() => '127.0.0.1'));
});
