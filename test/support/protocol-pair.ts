import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type IncomingHttpHeaders, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openAuditLog } from '../../src/audit/log.ts';
import { createCodeHost } from '../../src/codehost/client.ts';
import { loadConfig } from '../../src/config/load.ts';
import { silentLog } from '../../src/core/log.ts';
import { createGate } from '../../src/gate/call.ts';
import { createHealth } from '../../src/http/health.ts';
import { listen } from '../../src/http/listen.ts';
import { createRouter } from '../../src/http/router.ts';
import { createMcpEndpoint } from '../../src/mcp/handler.ts';
import { type Handle, withShortCut } from '../../src/mcp/short-cut.ts';
import { createMesh } from '../../src/mesh/client.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { createTools } from '../../src/tools/index.ts';
import { type Control, createControl } from '../standins/control.ts';
import { listen as listenStandin } from '../standins/listen.ts';
import { createMeshStandin } from '../standins/mesh.ts';
import { MESH_KEY, SECRET } from './server.ts';

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface Side {
  /** POSTs bytes as they are, with these headers and no others but the needed ones. */
  post(body: string, headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<RawAnswer>;
  /** The audit records since the last time, without what no two runs share. */
  records(): Record<string, unknown>[];
  /** How many requests the SDK has seen. */
  whole(): number;
}

export interface Pair {
  /** With the short cut. */
  quick: Side;
  /** The same without. */
  pure: Side;
  /** Faults of the mesh's API that both ask. */
  control: Control;
  close(): Promise<void>;
}

/** Two servers that differ in nothing but the short cut. */
export async function startPair(): Promise<Pair> {
  const directory = mkdtempSync(join(tmpdir(), 'pair-'));
  const control = createControl();
  const devices = [{ name: 'web-1', online: true, addresses: ['127.0.0.1'] }];
  const mesh = await listenStandin(createMeshStandin({ devices, apiKey: MESH_KEY }, control));
  const [quick, pure] = await Promise.all([
    startSide(join(directory, 'quick.log'), mesh.url, true),
    startSide(join(directory, 'pure.log'), mesh.url, false),
  ]);
  for (const side of [quick, pure]) side.records();
  return {
    quick,
    pure,
    control,
    async close() {
      await Promise.all([quick.close(), pure.close()]);
      await mesh.close();
      rmSync(directory, { recursive: true });
    },
  };
}

async function startSide(
  path: string,
  meshUrl: string,
  shortCut: boolean,
): Promise<Side & { close(): Promise<void> }> {
  const { config } = loadConfig({
    MCP_SECRET: SECRET,
    MESH_API_KEY: MESH_KEY,
    MESH_API_URL: meshUrl,
    CODE_HOST_TOKEN: 'host-token-1',
    SSH_BLOCKED_COMMANDS: 'rm -rf',
  });
  const log = silentLog;
  const audit = await openAuditLog({ path, secret: SECRET });
  const codeHost = createCodeHost(config.codeHost);
  const parts = { settings: config, mesh: createMesh(config.mesh), codeHost, log };
  const { tools } = createTools({ ...parts, privateKey: undefined, secrets: new Map() });
  const metrics = createMetrics();
  const gate = createGate({ tools, audit, metrics, redact: (text) => text, limits: config.limits, log });
  const endpoint = createMcpEndpoint(tools, gate, log, { shortCut: false });
  let seen = 0;
  const whole: Handle = (request, body, client) => {
    seen += 1;
    return endpoint.handle(request, body, client);
  };
  const handle = shortCut ? withShortCut(whole, gate, new Set(tools.map(({ name }) => name))) : whole;
  const router = createRouter({
    settings: config.server,
    mcp: { ...endpoint, handle },
    health: createHealth(() => false, {}),
    metrics,
    log,
  });
  const server = await listen(router.fetch, { host: '127.0.0.1', port: 0 });
  let read = 0;
  return {
    post: (body, headers, signal) => post(server, body, headers, signal),
    whole: () => seen,
    records() {
      const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
      const fresh = lines.slice(read).map((line) => JSON.parse(line) as Record<string, unknown>);
      read = lines.length;
      return fresh.map(({ time: _, id: __, seq: ___, mac: ____, duration_ms: _____, ...rest }) => rest);
    },
    async close() {
      server.close();
      await endpoint.close();
      await Promise.all(tools.map((tool) => tool.close()));
      await codeHost.close();
      await audit.close();
    },
  };
}

/** node:http rather than fetch, which adds and changes headers of its own. */
async function post(
  server: Server,
  body: string,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<RawAnswer> {
  const { port } = server.address() as AddressInfo;
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: `/mcp?token=${SECRET}`,
    headers: { 'content-length': Buffer.byteLength(body), ...headers },
    ...(signal && { signal }),
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}
