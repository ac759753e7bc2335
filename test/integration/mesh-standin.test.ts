import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type StandinEnv, createControl } from '../standins/control.ts';
import { type Listening, listen } from '../standins/listen.ts';
import { createMeshStandin } from '../standins/mesh.ts';
import { MESH_API_KEY, MESH_OAUTH_SECRET } from '../standins/settings.ts';

let standin: Listening;

beforeAll(async () => {
  const control = createControl();
  const devices = [{ name: 'web-1', online: true, host: 'localhost' }];
  const app = new Hono<StandinEnv>().route('/', control.routes());
  app.route(
    '/',
    createMeshStandin({ devices, apiKey: MESH_API_KEY, oauthSecret: MESH_OAUTH_SECRET }, control),
  );
  standin = await listen(app);
});
afterAll(() => standin.close());

const DEVICES = '/api/v2/tailnet/-/devices';

async function ask(path: string, authorization: string, body?: unknown) {
  const response = await fetch(standin.url + path, {
    headers: { authorization },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

test('an OAuth client’s secret as a token looks like a key without the scope, as on the real API', async () => {
  expect(await ask(DEVICES, `Bearer ${MESH_OAUTH_SECRET}`)).toStrictEqual({
    status: 403,
    type: 'application/json',
    text: '{"message":"calling actor does not have enough permissions to perform this function"}',
  });
});

test('Headscale refuses in plain text', async () => {
  expect(await ask('/api/v1/node', 'Bearer wrong')).toStrictEqual({
    status: 401,
    type: 'text/plain; charset=utf-8',
    text: 'Unauthorized',
  });
});

test('the SSH feature is told only with all fields', async () => {
  const few = await ask(DEVICES, `Bearer ${MESH_API_KEY}`);
  const all = await ask(`${DEVICES}?fields=all`, `Bearer ${MESH_API_KEY}`);
  expect(few.text).not.toContain('sshEnabled');
  expect(all.text).toContain('"sshEnabled":true');
});

test('a host’s address is asked of DNS', async () => {
  const { text } = await ask(DEVICES, `Bearer ${MESH_API_KEY}`);
  expect(text).toMatch(/"addresses":\["(127\.0\.0\.1|::1)"/);
});

test('faults and requests over HTTP', async () => {
  await ask('/_control/reset', '', {});
  await ask('/_control/faults', '', { api: 'mesh', next: [{ status: 500 }, { delay_ms: 1 }] });
  expect((await ask(DEVICES, `Bearer ${MESH_API_KEY}`)).status).toBe(500);
  expect((await ask(DEVICES, `Bearer ${MESH_API_KEY}`)).status).toBe(200);
  const { text } = await ask('/_control/requests?api=mesh', '');
  const seen = { api: 'mesh', method: 'GET', path: DEVICES, scheme: 'Bearer' };
  expect(JSON.parse(text)).toStrictEqual({ count: 2, requests: [seen, seen] });
});

test('as a process of its own', async () => {
  const main = new URL('../standins/main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main], {
    env: { PORT: '0', DEMO_DEVICES: '[{"name":"db-1","online":true}]', DEMO_MESH_API_KEY: 'a-demo-key' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const port = /^DEMO: .*:(\d+)$/.exec(line)?.[1];
  const health = await fetch(`http://127.0.0.1:${port}/healthz`);
  const list = await fetch(`http://127.0.0.1:${port}${DEVICES}`, {
    headers: { authorization: 'Bearer a-demo-key' },
  });
  child.kill('SIGTERM');

  expect(health.status).toBe(200);
  expect(await list.json()).toMatchObject({
    devices: [{ name: 'db-1.demo-mesh.ts.net', connectedToControl: true }],
  });
  expect(await exited).toStrictEqual([0, null]);
});
