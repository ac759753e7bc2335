import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import ssh2 from 'ssh2';

import type { WrittenRecord } from '../../../src/audit/record.ts';
import { DEMO_REPOSITORIES } from '../../standins/code-host-seed.ts';
import { createCodeHostStandin } from '../../standins/code-host.ts';
import { createControl } from '../../standins/control.ts';
import { listen } from '../../standins/listen.ts';
import { createMeshStandin } from '../../standins/mesh.ts';
import { freePort, MESH_KEY, SECRET } from '../../support/server.ts';
import { sshKeyPair } from '../../support/ssh-keys.ts';

const MAIN = resolve('src/main.ts');
const CODE_HOST_TOKEN = 'ghp_crash1234567890';
/** What each call carries in an argument of its own, and by which it is known in the log and to the outside. */
const MARK = /mark-[\w-]+/;
const UNLIMITED =
  '{"ssh_exec":0,"mesh_status":0,"fetch_external":0,"code_search":0,"snippet_kb":0,"browser":0}';

/** A device, a site, the mesh's and the code host's APIs on loopback, and servers that may die any moment. */
export async function startCrashWorld() {
  const directory = mkdtempSync(join(tmpdir(), 'crash-'));
  const auditPath = join(directory, 'audit.log');
  /** Marks of what the device ran and the site was asked: actions, whoever got an answer. */
  const acted = new Set<string>();
  const act = (text: string) => void acted.add(MARK.exec(text)?.[0] ?? '');

  const site = createServer((request, response) => {
    act(request.url ?? '');
    response.end('seen');
  }).listen(0, '127.0.0.1');
  const hostKeys = [sshKeyPair().private];
  const device = new ssh2.Server({ hostKeys }, (client) => {
    client.on('error', () => {});
    client.on('authentication', (attempt) => attempt.accept());
    client.on('session', (accept) => {
      accept().on('exec', (acceptExec, _reject, { command }) => {
        act(command);
        const channel = acceptExec();
        channel.write('ran\n');
        channel.exit(0);
        channel.end();
      });
    });
  });
  device.listen(0, '127.0.0.1');
  await once(device as unknown as typeof site, 'listening');
  const sshPort = (device.address() as AddressInfo).port;
  const sitePort = (site.address() as AddressInfo).port;
  const devices = [{ name: 'web-1', online: true, addresses: ['127.0.0.1'] }];
  const mesh = await listen(createMeshStandin({ devices, apiKey: MESH_KEY }, createControl()));
  const tokens = { [CODE_HOST_TOKEN]: { login: 'demo', scopes: ['gist', 'repo'] } };
  const limits = { core: 1e9, search: 1e9, code_search: 1e9, graphql: 1e9, points: 1e9 };
  const codeHost = await listen(
    createCodeHostStandin({ tokens, repositories: DEMO_REPOSITORIES, limits }, createControl()),
  );

  const port = await freePort();
  const env = {
    PATH: process.env['PATH'] ?? '',
    MCP_SECRET: SECRET,
    MESH_API_KEY: MESH_KEY,
    CODE_HOST_TOKEN,
    PROXY_ALLOWED_DOMAINS: '127.0.0.1',
    MESH_API_URL: mesh.url,
    CODE_HOST_API_URL: codeHost.url,
    SSH_PORT: String(sshPort),
    SSH_BLOCKED_COMMANDS: 'mkfs',
    SSH_KEY_PATH: join(directory, 'no-key'),
    SSH_KNOWN_HOSTS_PATH: join(directory, 'known_hosts'),
    LISTEN_HOST: '127.0.0.1',
    PORT: String(port),
    // The smallest there are, so that the log is rotated again and again.
    AUDIT_MAX_BYTES: '65536',
    AUDIT_KEEP_FILES: '0',
    AUDIT_LOG_PATH: auditPath,
    MAX_CALLS_PER_MINUTE: '0',
    MAX_CALLS_PER_MINUTE_BY_TOOL: UNLIMITED,
    UV_USE_IO_URING: '0',
  };

  return {
    auditPath,
    acted: acted as ReadonlySet<string>,
    sshPort,

    /** Starts the server's own process; `before` is what starts it, such as strace with its options. */
    start(...before: string[]) {
      const [file, ...args] = [...before, process.execPath, MAIN];
      const child = spawn(file as string, args, { cwd: directory, env, stdio: ['ignore', 'pipe', 'ignore'] });
      const ended = once(child, 'close');
      const ready = new Promise<void>((done) => {
        child.stdout.on('data', (chunk) => String(chunk).includes('/health') && done());
      });
      return { child, ended, ready: Promise.race([ready, ended]) };
    },

    /**
     * One call to whatever server listens. Kinds differ by `turn`, over the tools and over what becomes of a call.
     * @returns whether it was answered
     */
    async call(mark: string, turn: number): Promise<boolean> {
      const kinds: [string, Record<string, unknown>][] = [
        ['fetch_external', { url: `http://127.0.0.1:${sitePort}/${mark}` }],
        ['ssh_exec', { device: 'web-1', command: `echo ${mark}` }],
        ['mesh_status', { tag: mark }],
        ['code_search', { query: mark, kind: 'repositories' }],
        ['snippet_kb', { action: 'search', query: mark }],
        ['ssh_exec', { device: 'web-1', command: `mkfs ${mark}` }],
        ['ssh_exec', { device: 'web-1', commmand: mark }],
        ['ssh_exec', { device: mark, command: 'id' }],
      ];
      const [name, args] = kinds[turn % kinds.length] as (typeof kinds)[number];
      const params = { name, arguments: args };
      try {
        const response = await fetch(`http://127.0.0.1:${port}/mcp?token=${SECRET}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
        });
        return Object.hasOwn((await response.json()) as object, 'result');
      } catch {
        return false;
      }
    },

    /** All that stands in the log's files, and which lines no parser reads. */
    records: () => {
      const names = readdirSync(directory).filter((name) => /^audit\.log(\.\d+)?$/.test(name));
      return parseRecords(names.map((name) => readFileSync(join(directory, name), 'utf8')).join(''));
    },

    async close() {
      await mesh.close();
      await codeHost.close();
      device.close();
      site.close();
      site.closeAllConnections();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function parseRecords(text: string): { records: WrittenRecord[]; unparsable: number } {
  let unparsable = 0;
  const records = text
    .split('\n')
    .filter(Boolean)
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as WrittenRecord];
      } catch {
        unparsable += 1;
        return [];
      }
    });
  return { records, unparsable };
}

/** What the log lacks of what was answered and of what was done, one text each. */
export function missing(
  records: readonly WrittenRecord[],
  answered: ReadonlySet<string>,
  acted: ReadonlySet<string>,
): string[] {
  const begun = new Map<string, string>();
  const over = new Set<string>();
  const refused = new Set<string>();
  for (const { event, id, arguments: args } of records) {
    const [mark] = MARK.exec(JSON.stringify(args ?? '')) ?? [];
    if (event === 'intent' && mark !== undefined) begun.set(mark, id);
    if (event === 'refused' && mark !== undefined) refused.add(mark);
    if (event === 'outcome') over.add(id);
  }
  return [
    ...[...acted].filter((mark) => !begun.has(mark)).map((mark) => `${mark}: done without an intent`),
    ...[...answered]
      .filter((mark) => !refused.has(mark) && !over.has(begun.get(mark) ?? ''))
      .map((mark) => `${mark}: answered, and the log lacks its ${begun.has(mark) ? 'outcome' : 'intent'}`),
  ];
}
