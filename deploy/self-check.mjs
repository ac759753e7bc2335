// Asks the running stack, through Caddy as a client would, whether it does its job. Run by deploy/up inside a
// container of the server's image, so that the host needs no Node. Reads its settings from the environment.
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';

const {
  CHECK_HOST: host,
  CHECK_PORT: port,
  CHECK_CA: caFile,
  CHECK_DEMO: demo,
  MCP_SECRET: secret,
} = process.env;
const SIX_TOOLS = ['ssh_exec', 'mesh_status', 'fetch_external', 'code_search', 'snippet_kb', 'browser'];
// A certificate for a new host name takes its authority a little while.
const PATIENCE_MS = 90_000;

const ca = caFile ? readFileSync(caFile) : undefined;
let calls = 0;

function post(method, params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: ++calls, method, params });
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        // By address, with the name in TLS and Host: a VPS often cannot reach itself by its public address.
        host: '127.0.0.1',
        port,
        servername: host,
        path: `/mcp?token=${encodeURIComponent(secret)}`,
        method: 'POST',
        headers: { host, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        ca,
        timeout: 30_000,
      },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString() }),
        );
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer within 30 s')));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function result(method, params) {
  const answer = await post(method, params);
  if (answer.status !== 200)
    throw new Error(`HTTP ${answer.status} for ${method}: ${answer.body.slice(0, 300)}`);
  const message = JSON.parse(answer.body);
  if (message.error) throw new Error(`${method}: ${message.error.message}`);
  return message.result;
}

async function call(name, args) {
  const outcome = await result('tools/call', { name, arguments: args });
  const content = outcome.structuredContent ?? {};
  if (outcome.isError) {
    const { code, message, hint } = content.error ?? {};
    throw new Error(`${name}: ${code}: ${message}${hint ? ` (${hint})` : ''}`);
  }
  return content;
}

async function untilReachable() {
  const deadline = Date.now() + PATIENCE_MS;
  for (let tries = 1; ; tries++) {
    if (tries === 4)
      console.log(`    waiting for Caddy to have a certificate for ${host} and to reach the server`);
    try {
      const answer = await post('ping');
      if (answer.status !== 502) return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    if (Date.now() > deadline) throw new Error('Caddy runs, but the server behind it does not answer');
    await pause(1000);
  }
}

async function checkTools() {
  const { tools } = await result('tools/list');
  const names = tools.map((tool) => tool.name);
  const same = names.length === SIX_TOOLS.length && SIX_TOOLS.every((name) => names.includes(name));
  if (!same) throw new Error(`tools/list names ${names.join(', ')}`);
  console.log(`    tools/list: ${names.join(', ')}`);
}

async function checkMesh() {
  const { devices } = await call('mesh_status', {});
  const online = devices.filter((device) => device.online);
  console.log(`    mesh_status: ${online.length} online, ${devices.length - online.length} offline`);
}

async function checkSsh() {
  const { exit_code: code, stdout } = await call('ssh_exec', {
    device: 'web-1',
    command: 'hostname; uname -a',
  });
  if (code !== 0) throw new Error(`ssh_exec on web-1 ended with ${code}`);
  console.log('    ssh_exec on web-1, `hostname; uname -a`:');
  for (const line of stdout.trimEnd().split('\n')) console.log(`      ${line}`);
}

/** The other four, each on something that is only in the demo. */
async function checkTheRest() {
  const page = await call('fetch_external', { url: 'http://demo-site/', format: 'markdown' });
  if (page.status !== 200) throw new Error(`fetch_external of http://demo-site/ got HTTP ${page.status}`);
  console.log(`    fetch_external of http://demo-site/: HTTP ${page.status}, ${page.bytes} bytes`);
  const found = await call('code_search', { query: 'backup' });
  console.log(`    code_search for backup: ${found.total} found`);
  const notes = await call('snippet_kb', { action: 'search', query: 'backup' });
  if (notes.total === 0) throw new Error('snippet_kb found none of the demo notes');
  console.log(`    snippet_kb search for backup: ${notes.total} notes`);
  const session = 'self-check';
  const opened = await call('browser', { action: 'open', session, url: 'http://demo-site/' });
  if (opened.title !== 'Demo site') throw new Error(`browser opened "${opened.title}"`);
  await call('browser', { action: 'close', session });
  console.log(`    browser opened http://demo-site/: "${opened.title}"`);
}

try {
  await untilReachable();
  await checkTools();
  await checkMesh();
  if (demo === 'true') {
    await checkSsh();
    await checkTheRest();
  }
} catch (error) {
  console.error(`    self-check failed: ${error.message}`);
  process.exitCode = 1;
}
