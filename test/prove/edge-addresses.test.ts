import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { isIP } from 'node:net';

import { container, docker, inside, stack } from '../support/stack.ts';
import { type Door, DOORS, eachOf, exchange, statusesOf } from './lib/edge-doors.ts';
import { prove, tries } from './row.ts';
import { FORGED, forgeries } from './vectors/edge-addresses.ts';
import { LAST, request } from './vectors/edge-request.ts';

const SERVICE = '10001';

/** A call that the blocklist refuses, so that it is recorded, with the client's address, and touches no device. */
const refusedCall = (marker: string) => ({
  jsonrpc: '2.0',
  id: marker,
  method: 'tools/call',
  params: { name: 'ssh_exec', arguments: { device: 'web-1', command: `mkfs ${marker}` } },
});

/** The address that the audit log has for each marker. */
async function recorded(prefix: string): Promise<Map<string, string>> {
  const lines = await inside('server', `grep -F '${prefix}' /data/audit/service-audit.log || true`, SERVICE);
  const found = new Map<string, string>();
  for (const line of lines.trim().split('\n').filter(Boolean)) {
    const { client } = JSON.parse(line) as { client: { ip: string } };
    const marker = new RegExp(`${prefix}[a-z0-9-]+`).exec(line)?.[0];
    if (marker !== undefined) found.set(marker, client.ip);
  }
  return found;
}

/** Who the client is without any forgery, and then with each. */
async function through(door: Door, every: number) {
  const prefix = `from-${randomBytes(4).toString('hex')}-`;
  const send = async (marker: string, headers: string[]) => {
    const body = JSON.stringify(refusedCall(marker));
    const target = `/mcp?token=${stack.secret}`;
    return statusesOf(await exchange(door, [Buffer.from(request({ target, headers, body }) + LAST)]))[0];
  };
  await send(`${prefix}honest`, []);
  const all = FORGED.flatMap((ip) => forgeries(ip)).filter((_, at) => at % every === 0);
  const failures: string[] = [];
  const sent = new Map<string, string>();
  await eachOf([...all.entries()], 8, async ([at, [name, lines]]) => {
    sent.set(`${prefix}${at}`, name);
    await send(`${prefix}${at}`, lines);
  });
  const seen = await recorded(prefix);
  const honest = seen.get(`${prefix}honest`) ?? 'nobody';
  if (isIP(honest) === 0) failures.push(`${door}: the honest client is ${honest}`);
  for (const [marker, name] of sent) {
    // Some are refused for their form and have no record.
    const ip = seen.get(marker) ?? honest;
    if (ip !== honest) failures.push(`${door}, ${name}: the audit has ${ip} for ${honest}`);
  }
  if (seen.size < all.length / 2) failures.push(`${door}: only ${seen.size} of ${all.length} were recorded`);
  return { tries: all.length, failures };
}

async function pipe(input: string, args: readonly string[]): Promise<void> {
  const child = spawn('docker', args, { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(input);
  await once(child, 'close');
}

prove('edge', 'A client cannot pass for another address, through Caddy or at the port', async () => {
  const outcomes = [];
  for (const door of DOORS) outcomes.push(await through(door, tries(1, 8)));
  return {
    tries: outcomes.reduce((sum, outcome) => sum + outcome.tries, 0),
    failures: outcomes.flatMap(({ failures }) => failures),
  };
});

prove('edge', 'A container beside the server that is not the proxy cannot name a client', async () => {
  const prefix = `from-${randomBytes(4).toString('hex')}-`;
  const format = `{{(index .NetworkSettings.Networks "${stack.project}_demo-mesh").IPAddress}}`;
  const own = (await docker('inspect', '--format', format, container('demo-apis'))).trim();
  const all = FORGED.flatMap((ip) => forgeries(ip)).filter((_, at) => at % tries(1, 8) === 0);
  // One process in that container sends them all, as raw bytes.
  const messages = all.map(([, lines], at) => {
    const body = JSON.stringify(refusedCall(`${prefix}${at}`));
    const text = request({
      target: `/mcp?token=${stack.secret}`,
      headers: [...lines, 'Connection: close'],
      body,
    });
    return Buffer.from(text).toString('base64');
  });
  const script = `
    const net = require('node:net');
    let input = '';
    process.stdin.on('data', (chunk) => (input += chunk)).on('end', async () => {
      for (const message of JSON.parse(input)) await new Promise((resolve) => {
        const socket = net.connect(3000, 'server', () => socket.write(Buffer.from(message, 'base64')));
        socket.on('data', () => {}).on('close', resolve).on('error', resolve);
      });
    });`;
  await pipe(JSON.stringify(messages), ['exec', '-i', container('demo-apis'), 'node', '-e', script]);
  const seen = await recorded(prefix);
  const failures = all.flatMap(([name], at) => {
    const ip = seen.get(`${prefix}${at}`);
    return ip === own ? [] : [`${name}: the audit has ${ip} for ${own}`];
  });
  return { tries: all.length, failures };
});
