/**
 * Runs the built server on several versions of Node and prints a table for the README: does it start, answer
 * tools/list and run mesh_status? `npm run node-versions` builds first.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { createControl } from '../standins/control.ts';
import { listen } from '../standins/listen.ts';
import { createMeshStandin } from '../standins/mesh.ts';
import { freePort, MESH_KEY, SECRET } from './server.ts';

const VERSIONS = ['18', '20', '22', '24', '26'];
const MAIN = resolve('dist/main.js');

const directory = mkdtempSync(join(tmpdir(), 'node-versions-'));
const mesh = await listen(createMeshStandin({ devices: [], apiKey: MESH_KEY }, createControl()));

/** Installs one binary of Node from its package and returns its path. */
function install(major: string): string {
  const prefix = join(directory, major);
  const name = `node-${process.platform}-${process.arch}`;
  execFileSync('npm', ['install', '--silent', '--no-save', '--prefix', prefix, `${name}@${major}`]);
  return join(prefix, 'node_modules', name, 'bin', 'node');
}

async function tryOn(node: string): Promise<string> {
  const port = await freePort();
  const child = spawn(node, [MAIN], {
    cwd: directory,
    env: {
      MCP_SECRET: SECRET,
      MESH_API_KEY: MESH_KEY,
      CODE_HOST_TOKEN: 'host-token-1',
      MESH_API_URL: mesh.url,
      LISTEN_HOST: '127.0.0.1',
      PORT: String(port),
      SSH_KEY_PATH: join(directory, 'none'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const ended = await new Promise<string | undefined>((done) => {
      let text = '';
      const read = (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes('GET  http://')) done(undefined);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.on('close', () => done(/^\w*Error.*$/m.exec(text)?.[0] ?? text.split('\n')[0] ?? ''));
    });
    if (ended !== undefined) return `does not start: ${ended}`;
    const ask = async (method: string, params = {}) => {
      const response = await fetch(`http://127.0.0.1:${port}/mcp?token=${SECRET}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      return ((await response.json()) as { result?: Record<string, unknown> }).result ?? {};
    };
    const { tools } = await ask('tools/list');
    if ((tools as unknown[])?.length !== 6) return 'tools/list fails';
    const { structuredContent } = await ask('tools/call', { name: 'mesh_status', arguments: {} });
    if ((structuredContent as { total?: number })?.total !== 0) return 'tools/call fails';
    child.kill('SIGTERM');
    const code = await new Promise((done) => child.on('close', done));
    return code === 0 ? 'starts, lists, calls, stops' : `stops with ${String(code)}`;
  } finally {
    child.kill('SIGKILL');
  }
}

const lines = ['| Node | Built server |', '| --- | --- |'];
for (const major of VERSIONS) {
  const node = install(major);
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  lines.push(`| ${version} | ${await tryOn(node)} |`);
}
await mesh.close();
rmSync(directory, { recursive: true, force: true });
process.stdout.write(`${lines.join('\n')}\n`);
