// The outside systems of the demo network and of the container tests, in one process on plain HTTP.
// Runs on Node 24 as it is; needs hono and @hono/node-server.
import process from 'node:process';
import { Hono } from 'hono';

import { createCodeHostStandin } from './code-host.ts';
import { DEMO_GISTS, DEMO_REPOSITORIES } from './code-host-seed.ts';
import { type StandinEnv, createControl } from './control.ts';
import { listen } from './listen.ts';
import type { StandinDevice } from './mesh-devices.ts';
import { createMeshStandin } from './mesh.ts';

const {
  PORT = '8080',
  DEMO_DEVICES = '[]',
  DEMO_MESH_API_KEY = 'demo-mesh-api-key',
  DEMO_CODE_HOST_TOKEN = 'demo-code-host-token',
  DEMO_GISTS_FILE,
} = process.env;

const control = createControl();
const app = new Hono<StandinEnv>();
app.get('/healthz', (c) => c.text('ok'));
app.route('/', control.routes());
app.route(
  '/',
  createMeshStandin(
    { devices: JSON.parse(DEMO_DEVICES) as StandinDevice[], apiKey: DEMO_MESH_API_KEY },
    control,
  ),
);
app.route(
  '/code-host',
  createCodeHostStandin(
    {
      tokens: { [DEMO_CODE_HOST_TOKEN]: { login: 'demo', scopes: ['gist', 'repo'] } },
      gists: DEMO_GISTS,
      repositories: DEMO_REPOSITORIES,
      ...(DEMO_GISTS_FILE !== undefined && { file: DEMO_GISTS_FILE }),
    },
    control,
  ),
);

const server = await listen(app, Number(PORT), '0.0.0.0');
process.stdout.write(`DEMO: stand-ins for outside APIs, with made-up data, on ${server.url}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void server.close().then(() => process.exit(0)));
}
