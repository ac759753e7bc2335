import { Hono } from 'hono';

import type { Control, StandinEnv } from './control.ts';
import { type StandinDevice, headscaleNode, netbirdPeer, tailscaleDevice } from './mesh-devices.ts';

export interface MeshStandinOptions {
  devices: readonly StandinDevice[];
  apiKey: string;
  /** A key that is valid but may not read devices. */
  unscopedKey?: string;
  /** A Tailscale OAuth client's secret; its id is the part between the second and the third hyphen. */
  oauthSecret?: string;
  /** The one network there is besides "-". */
  network?: string;
}

/**
 * The management APIs of the three kinds of mesh network, on one address: their paths don't overlap.
 * `mesh` is the name of all three for `control`.
 */
export function createMeshStandin(options: MeshStandinOptions, control: Control): Hono<StandinEnv> {
  const app = new Hono<StandinEnv>();
  app.use('/api/v2/*', control.middleware('mesh', tailscaleError));
  app.use('/api/v1/*', control.middleware('mesh', headscaleError));
  app.use('/api/peers', control.middleware('mesh', netbirdError));
  addTailscale(app, options);
  addHeadscale(app, options);
  addNetbird(app, options);
  return app;
}

function addTailscale(app: Hono<StandinEnv>, options: MeshStandinOptions): void {
  const { devices, apiKey, unscopedKey, oauthSecret, network } = options;
  const accessTokens = new Set<string>();

  app.post('/api/v2/oauth/token', async (c) => {
    const form = await c.req.parseBody();
    const known = form['client_id'] === oauthSecret?.split('-')[2] && form['client_secret'] === oauthSecret;
    if (oauthSecret === undefined || !known || form['grant_type'] !== 'client_credentials')
      return tailscaleError(401);
    const token = `tskey-api-demo-${accessTokens.size + 1}`;
    accessTokens.add(token);
    return c.json({
      access_token: token,
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'devices:core:read',
    });
  });

  app.get('/api/v2/tailnet/:network/devices', async (c) => {
    const key = credentials(c.req.header('authorization'));
    // A client's secret used as a token passes for a key that may do nothing.
    if (key === unscopedKey || key?.startsWith('tskey-client-')) return tailscaleError(403);
    if (key === null || (key !== apiKey && !accessTokens.has(key))) return tailscaleError(401);
    const asked = c.req.param('network');
    if (asked !== '-' && asked !== network) return tailscaleError(404);
    const all = c.req.query('fields') === 'all';
    return c.json({
      devices: await Promise.all(devices.map((device, at) => tailscaleDevice(device, at, all))),
    });
  });
}

function addHeadscale(app: Hono<StandinEnv>, { devices, apiKey }: MeshStandinOptions): void {
  app.get('/api/v1/node', async (c) => {
    if (c.req.header('authorization') !== `Bearer ${apiKey}`) return headscaleError(401);
    const user = c.req.query('user');
    const owned = user === undefined ? devices : devices.filter((device) => (device.user ?? 'demo') === user);
    return c.json({ nodes: await Promise.all(owned.map(headscaleNode)) });
  });
}

function addNetbird(app: Hono<StandinEnv>, { devices, apiKey, unscopedKey }: MeshStandinOptions): void {
  app.get('/api/peers', async (c) => {
    const authorization = c.req.header('authorization');
    if (unscopedKey !== undefined && authorization === `Token ${unscopedKey}`) return netbirdError(403);
    if (authorization !== `Token ${apiKey}`) return netbirdError(401);
    return c.json(await Promise.all(devices.map(netbirdPeer)));
  });
}

/** The key of `Basic KEY:` or `Bearer KEY`. */
function credentials(authorization = ''): string | null {
  const [scheme, value = ''] = authorization.split(' ', 2);
  if (scheme === 'Bearer') return value;
  if (scheme !== 'Basic') return null;
  const [user = '', password] = Buffer.from(value, 'base64').toString('utf8').split(':', 2);
  return password === '' ? user : null;
}

const TAILSCALE_MESSAGES: Record<number, string> = {
  401: 'API token invalid',
  403: 'calling actor does not have enough permissions to perform this function',
  404: 'not found',
  429: 'too many requests',
};

function tailscaleError(status: number): Response {
  return Response.json({ message: TAILSCALE_MESSAGES[status] ?? 'internal server error' }, { status });
}

function headscaleError(status: number): Response {
  if (status === 401) {
    return new Response('Unauthorized', { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
  }
  return Response.json({ code: status === 404 ? 5 : 13, message: 'request failed', details: [] }, { status });
}

const NETBIRD_MESSAGES: Record<number, string> = { 401: 'token invalid', 403: 'permission denied' };

function netbirdError(status: number): Response {
  return Response.json({ message: NETBIRD_MESSAGES[status] ?? 'request failed', code: status }, { status });
}
