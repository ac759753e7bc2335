import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { ToolError } from '../../src/core/errors.ts';
import { createControl } from '../standins/control.ts';
import { listen } from '../standins/listen.ts';
import { createMeshStandin } from '../standins/mesh.ts';
import { MESH_API_KEY, MESH_OAUTH_SECRET } from '../standins/settings.ts';
import { anyone, failureOf, startMeshNetwork } from './mesh-network.ts';

let network: Awaited<ReturnType<typeof startMeshNetwork>>;

beforeAll(async () => {
  network = await startMeshNetwork();
});
afterEach(() => network.control.reset());
afterAll(() => network.close());

test.each([
  ['tailscale', 'GET /api/v2/tailnet/-/devices?fields=all Basic', 'web-1.demo-mesh.ts.net', true],
  ['headscale', 'GET /api/v1/node Bearer', null, undefined],
  ['netbird', 'GET /api/peers Token', 'web-1.demo-mesh.netbird.cloud', false],
] as const)('%s: the devices, over HTTP', async (provider, request, dnsName, ssh) => {
  const devices = await network.meshWith({ provider }).devices(anyone);

  expect(network.asked()).toStrictEqual([request]);
  expect(devices.map(({ name, online }) => [name, online])).toStrictEqual([
    ['web-1', true],
    ['laptop-1', false],
  ]);
  expect(devices[0]?.dns_name).toBe(dnsName);
  expect(devices[0]?.addresses).toStrictEqual(['100.101.0.1', 'fd7a:115c:a1e0::1']);
  expect(devices[0]?.tags).toStrictEqual(['tag:web']);
  expect(devices[0]?.ssh_enabled).toBe(ssh);
  expect(JSON.stringify(devices)).not.toContain('hskey-auth');
});

test('a network by name, behind a path of a reverse proxy', async () => {
  const mesh = network.meshWith({ network: 'example.org', apiUrl: `${network.url}/behind/a/proxy/` });
  expect(await mesh.devices(anyone)).toHaveLength(2);
  expect(network.asked()).toStrictEqual([
    'GET /behind/a/proxy/api/v2/tailnet/example.org/devices?fields=all Basic',
  ]);
});

test('the network is called by its name, or by the suffix its devices share', async () => {
  expect(network.meshWith({ network: 'example.org' }).network).toBe('example.org');
  const mesh = network.meshWith();
  expect(mesh.network).toBe('tailscale');
  await mesh.devices(anyone);
  expect(mesh.network).toBe('demo-mesh.ts.net');
});

test('an OAuth client’s secret is exchanged for a token, which is used for most of its hour', async () => {
  let time = 0;
  const mesh = network.meshWith({ apiKey: MESH_OAUTH_SECRET }, { cacheMs: 0, now: () => time });
  const list = 'GET /api/v2/tailnet/-/devices?fields=all Bearer';
  await mesh.devices(anyone);
  time = 3_539_000;
  await mesh.devices(anyone);
  expect(network.asked()).toStrictEqual(['POST /api/v2/oauth/token null', list, list]);
  time = 3_541_000;
  await mesh.devices(anyone);
  expect(network.asked().slice(3)).toStrictEqual(['POST /api/v2/oauth/token null', list]);
});

test('a token that was revoked early is replaced by the next call', async () => {
  const mesh = network.meshWith({ apiKey: MESH_OAUTH_SECRET }, { cacheMs: 0 });
  await mesh.devices(anyone);
  network.control.fail('mesh', { status: 401 });
  expect((await failureOf(mesh.devices(anyone))).code).toBe('auth_failed');
  expect(await mesh.devices(anyone)).toHaveLength(2);
  expect(network.asked().filter((request) => request.startsWith('POST'))).toHaveLength(2);
});

test('429: the API is left alone for as long as it asks', async () => {
  let time = 0;
  const mesh = network.meshWith({}, { now: () => time });
  network.control.fail('mesh', { status: 429, retry_after: 7 });
  const error = await failureOf(mesh.devices(anyone));
  expect(error.code).toBe('rate_limited');
  expect(error.message).toBe(`${network.host} answered 429 (too many requests).`);
  expect(error.details.retryAfterSeconds).toBe(7);

  time = 4_500;
  expect((await failureOf(mesh.devices(anyone))).details.retryAfterSeconds).toBe(3);
  expect(network.control.requests('mesh')).toHaveLength(1);

  time = 7_000;
  expect(await mesh.devices(anyone)).toHaveLength(2);
});

test('429 without Retry-After', async () => {
  network.control.fail('mesh', { status: 429 });
  expect((await failureOf(network.meshWith().devices(anyone))).details.retryAfterSeconds).toBe(30);
});

test('an answer counts as current for five seconds', async () => {
  let time = 0;
  const mesh = network.meshWith({}, { now: () => time });
  await mesh.devices(anyone);
  time = 4_999;
  await mesh.devices(anyone);
  await mesh.device('web-1', anyone);
  expect(network.control.requests('mesh')).toHaveLength(1);
  time = 5_000;
  await mesh.devices(anyone);
  expect(network.control.requests('mesh')).toHaveLength(2);
});

test('fifty callers share one request, and its failure', async () => {
  const mesh = network.meshWith();
  const calls = () => Array.from({ length: 50 }, () => mesh.devices(anyone));
  network.control.fail('mesh', { status: 500 });
  const failed = await Promise.all(calls().map(failureOf));
  expect(failed.map(({ code }) => code)).toStrictEqual(Array.from({ length: 50 }, () => 'upstream_error'));
  expect(network.control.requests('mesh')).toHaveLength(1);

  const listed = await Promise.all(calls());
  expect(listed.every(({ length }) => length === 2)).toBe(true);
  expect(network.control.requests('mesh')).toHaveLength(2);
});

test('a caller who leaves gets an answer at once, and ends nothing for the others', async () => {
  const mesh = network.meshWith();
  const leaving = new AbortController();
  const gone = mesh.devices(leaving.signal);
  const stays = mesh.devices(anyone);
  leaving.abort();
  expect((await failureOf(gone)).code).toBe('cancelled');
  expect(await stays).toHaveLength(2);
  expect(network.control.requests('mesh')).toHaveLength(1);
});

test('the reason a caller left for is the failure it gets', async () => {
  const late = AbortSignal.abort(new ToolError('timeout', 'The call took longer than 15 s and was ended.'));
  expect((await failureOf(network.meshWith().devices(late))).code).toBe('timeout');
});

test.each([
  ['500', { status: 500 }, 'upstream_error'],
  ['429', { status: 429 }, 'rate_limited'],
  ['a reset', { reset: true }, 'upstream_error'],
] as const)(
  'while the API fails with %s, names resolve for a minute, but the status is not made up',
  async (_, fault, code) => {
    let time = 0;
    const mesh = network.meshWith({}, { now: () => time });
    await mesh.devices(anyone);
    time = 59_999;
    network.control.fail('mesh', fault, fault);
    expect((await mesh.device('web-1', anyone)).addresses).toStrictEqual([
      '100.101.0.1',
      'fd7a:115c:a1e0::1',
    ]);
    expect((await failureOf(mesh.devices(anyone))).code).toBe(code);
    // A device that is not in the old list may exist all the same.
    network.control.fail('mesh', fault);
    expect((await failureOf(mesh.device('new-1', anyone))).code).toBe(code);
    time = 60_000;
    network.control.fail('mesh', fault);
    expect((await failureOf(mesh.device('web-1', anyone))).code).toBe(code);
  },
);

test.each([
  ['revoked', 401, 'auth_failed'],
  ['without the scope', 403, 'missing_scope'],
])('a key that is %s resolves no names from an old list', async (_, status, code) => {
  let time = 0;
  const mesh = network.meshWith({}, { now: () => time });
  await mesh.devices(anyone);
  time = 6_000;
  network.control.fail('mesh', { status });
  expect((await failureOf(mesh.device('web-1', anyone))).code).toBe(code);
});

test('10,000 devices', async () => {
  const devices = Array.from({ length: 10_000 }, (_, at) => ({ name: `node-${at}`, online: at % 2 === 0 }));
  const app = createMeshStandin({ devices, apiKey: MESH_API_KEY }, createControl());
  const large = await listen(app);
  const mesh = network.meshWith({ apiUrl: large.url });
  expect(await mesh.devices(anyone)).toHaveLength(10_000);
  expect((await mesh.device('100.101.39.16', anyone)).name).toBe('node-9999');
  await large.close();
});

test.each([
  [{ provider: 'headscale', apiUrl: '' }, 'MESH_API_URL must be set for headscale.'],
  [{ apiUrl: 'http://' }, 'MESH_API_URL is not a valid URL.'],
  [
    { apiUrl: 'https://me:pass@mesh.example.org' },
    'MESH_API_URL must not hold a user name or password; the key belongs in MESH_API_KEY.',
  ],
  [
    { apiKey: 'tskey-api-1\n' },
    'MESH_API_KEY holds a space, a line break or another character that no API key has.',
  ],
] as const)('settings that cannot work: %j', (settings, message) => {
  expect(() => network.meshWith(settings)).toThrow(new Error(message));
});
