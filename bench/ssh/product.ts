import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { createControl } from '../../test/standins/control.ts';
import { listen } from '../../test/standins/listen.ts';
import { createMeshStandin } from '../../test/standins/mesh.ts';
import { type LoadResult, jsonPost, load } from '../lib/load.ts';
import { SECRET } from '../lib/product.ts';
import { type Devices, NODE, docker, memoryOf } from './devices.ts';

const MESH_KEY = 'mesh-key-1';

interface Answer {
  exit_code?: number;
  stdout?: string;
  stdout_truncated?: boolean;
  error?: { code: string; message: string };
}

/** The built server in a container of the image that it is shipped on, with the devices in its mesh. */
export interface Product {
  /** One ssh_exec; `device` counts from 0. @throws when the command did not run or end with 0 */
  exec(device: number, command: string): Promise<Answer>;
  /** The command on each of the devices, by so many callers each. */
  load(
    devices: readonly number[],
    callers: number,
    command: string,
    amount: { ms: number } | { requests: number },
  ): Promise<LoadResult[]>;
  /** Calls of ssh_exec by outcome, as /metrics counts them. */
  outcomes(): Promise<Record<string, number>>;
  /** Resident memory in MB. */
  rss(): number;
  stop(): Promise<void>;
}

export async function startProduct(devices: Devices): Promise<Product> {
  const listed = devices.addresses.map((address, index) => ({
    name: `device-${index}`,
    online: true,
    addresses: [address],
  }));
  const mesh = await listen(createMeshStandin({ devices: listed, apiKey: MESH_KEY }, createControl()));
  const port = await freePort();
  const data = join(devices.directory, 'product');
  mkdirSync(data, { recursive: true });
  const env = {
    PORT: String(port),
    LISTEN_HOST: '127.0.0.1',
    MCP_SECRET: SECRET,
    MESH_API_KEY: MESH_KEY,
    MESH_API_URL: mesh.url,
    CODE_HOST_TOKEN: 'host-token-1',
    PROXY_ALLOWED_DOMAINS: 'api.example.org',
    AUDIT_LOG_PATH: '/data/audit.log',
    SSH_KNOWN_HOSTS_PATH: '/data/known_hosts',
    SSH_KEY_PATH: '/bench/key',
    SSH_DEFAULT_USER: 'demo',
    // A bench calls more often in a minute than any assistant may.
    MAX_CALLS_PER_MINUTE: '0',
    MAX_CALLS_PER_MINUTE_BY_TOOL: '{"ssh_exec":0}',
    NODE_ENV: 'production',
    UV_USE_IO_URING: '0',
  };
  const id = docker(
    ...devices.container([
      '--detach',
      `--user=${process.getuid?.()}:${process.getgid?.()}`,
      ...['--volume', `${join(process.cwd(), 'dist')}:/app/dist:ro`],
      ...['--volume', `${devices.directory}:/bench:ro`, '--volume', `${data}:/data`],
      ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ...[NODE, 'node', '--max-semi-space-size=4', 'dist/main.js'],
    ]),
  );
  const url = `http://127.0.0.1:${port}`;
  const headers = { authorization: `Bearer ${SECRET}` };
  await untilHealthy(`${url}/health`, headers, id);

  const bodyOf = (device: number, command: string) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'ssh_exec', arguments: { device: `device-${device}`, command, timeout_seconds: 600 } },
  });
  return {
    async exec(device, command) {
      const response = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(bodyOf(device, command)),
      });
      const text = await response.text();
      const { result } = JSON.parse(text) as { result?: { structuredContent: Answer } };
      if (result?.structuredContent.exit_code !== 0) throw new Error(`ssh_exec: ${text.slice(0, 500)}`);
      return result.structuredContent;
    },
    load: (which, callers, command, amount) =>
      Promise.all(
        which.map((device) =>
          load({
            port,
            request: jsonPost('/mcp', headers, bodyOf(device, command)),
            connections: callers,
            amount,
          }),
        ),
      ),
    async outcomes() {
      const text = await (await fetch(`${url}/metrics`, { headers })).text();
      const counts: Record<string, number> = {};
      for (const [, labels = '', value] of text.matchAll(/^\w*_calls_total\{([^}]*)\} (\d+)/gm)) {
        if (!labels.includes('tool="ssh_exec"')) continue;
        const outcome = /outcome="([^"]*)"/.exec(labels)?.[1] ?? '';
        counts[outcome] = (counts[outcome] ?? 0) + Number(value);
      }
      return counts;
    },
    rss: memoryOf(id),
    async stop() {
      docker('rm', '--force', '--volumes', id);
      await mesh.close();
    },
  };
}

async function untilHealthy(url: string, headers: Record<string, string>, id: string): Promise<void> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    const healthy = await fetch(url, { headers }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (healthy) return;
    await wait(50);
  }
  throw new Error(`the server did not start:\n${docker('logs', '--tail', '20', id)}`);
}

/** Not that of the other benches, which keeps servers and this process on cores of their own: sshd needs them all. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
