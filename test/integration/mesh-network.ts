import { expect } from 'vitest';
import { Hono } from 'hono';

import { ToolError } from '../../src/core/errors.ts';
import { type MeshOptions, createMesh } from '../../src/mesh/client.ts';
import type { MeshSettings } from '../../src/mesh/settings.ts';
import { type StandinEnv, createControl } from '../standins/control.ts';
import { listen } from '../standins/listen.ts';
import { createMeshStandin } from '../standins/mesh.ts';
import { MESH_API_KEY, MESH_OAUTH_SECRET, UNSCOPED_MESH_API_KEY } from '../standins/settings.ts';

/** A network of two devices behind the real client, and the ways to disturb it. */
export async function startMeshNetwork() {
  const control = createControl();
  const devices = [
    { name: 'web-1', online: true, tags: ['tag:web'] },
    { name: 'laptop-1', online: false },
  ];
  const api = createMeshStandin(
    {
      devices,
      apiKey: MESH_API_KEY,
      unscopedKey: UNSCOPED_MESH_API_KEY,
      oauthSecret: MESH_OAUTH_SECRET,
      network: 'example.org',
    },
    control,
  );
  const { url, ...standin } = await listen(
    new Hono<StandinEnv>().route('/', api).route('/behind/a/proxy/', api),
  );
  return {
    control,
    url,
    host: new URL(url).host,
    close: () => standin.close(),
    /** What the API was asked: method, path and scheme of the credentials. */
    asked: () => control.requests('mesh').map(({ method, path, scheme }) => `${method} ${path} ${scheme}`),
    meshWith: (settings: Partial<MeshSettings> = {}, options: MeshOptions = {}) =>
      createMesh(
        { provider: 'tailscale', apiKey: MESH_API_KEY, apiUrl: url, network: '-', ...settings },
        options,
      ),
  };
}

/** The signal of a caller who never leaves. */
export const anyone = new AbortController().signal;

/** The failure of a call, which must be a ToolError without a secret in it. */
export async function failureOf(call: Promise<unknown>): Promise<ToolError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ToolError)) throw new Error(`expected a ToolError, got ${String(error)}`);
  expect(JSON.stringify([error.message, error.details])).not.toMatch(/0123456789abcdef/);
  return error;
}
