import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';

import { Hono } from 'hono';

import { describeSettings } from '../../src/config/describe.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createConsole } from '../../src/console/console.ts';
import type { ConsoleParts } from '../../src/console/parts.ts';
import type { AuditRecord } from '../../src/audit/record.ts';
import { createTrail } from '../../src/console/trail.ts';
import type { JobSummary } from '../../src/core/jobs.ts';
import { silentLog } from '../../src/core/log.ts';
import { createAuthenticator } from '../../src/http/auth.ts';
import { listen } from '../../src/http/listen.ts';
import type { Device } from '../../src/mesh/device.ts';
import { createHistory } from '../../src/metrics/history.ts';

export const DEMO_SECRET = '00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee';

const TOOLS = ['ssh_exec', 'mesh_status', 'fetch_external', 'code_search', 'snippet_kb', 'browser'];
const MINUTE = 60_000;
const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE).toISOString();

const device = (name: string, facts: Partial<Device>): Device => ({
  name,
  dns_name: `${name}.demo-mesh.ts.net`,
  addresses: ['100.101.0.1'],
  os: 'linux',
  online: true,
  last_seen: null,
  tags: [],
  user: 'demo@example.com',
  ssh_enabled: true,
  client_version: '1.90.6',
  update_available: false,
  key_expires: null,
  ...facts,
});

const DEVICES: Device[] = [
  device('web-1', { addresses: ['100.101.0.1'], tags: ['tag:web'] }),
  device('db-1', { addresses: ['100.101.0.2'], tags: ['tag:db'], update_available: true }),
  device('backup-1', { addresses: ['100.101.0.3'], key_expires: ago(-6 * 24 * 60) }),
  device('laptop-1', { addresses: ['100.101.0.4'], os: 'macOS', online: false, last_seen: ago(190) }),
];

const JOBS: JobSummary[] = [
  job('k3v9x2', 'db-1', 'pg_dump --format=custom shop | zstd -T0 > /srv/backup/shop-nightly.dump.zst', 14),
  { ...job('p7w4m1', 'web-1', 'npm ci && npm run build', 38), ended_at: ago(35), exit_code: 0 },
];

function job(id: string, on: string, command: string, minutesAgo: number): JobSummary {
  return {
    id,
    device: on,
    user: 'deploy',
    command,
    started_at: ago(minutesAgo),
    ended_at: null,
    exit_code: null,
    signal: null,
    timed_out: false,
    cancelled: false,
  };
}

type Call = [tool: string, args: object, outcome: 'ok' | 'blocked' | 'error', ms: number, more?: object];

/** The newest last. */
const CALLS: Call[] = [
  ['mesh_status', {}, 'ok', 84],
  ['ssh_exec', { device: 'web-1', command: 'systemctl status caddy --no-pager' }, 'ok', 142],
  ['code_search', { query: 'retry budget language:go', per_page: 20 }, 'ok', 611],
  ['fetch_external', { url: 'https://status.example.org/api/v2/summary.json' }, 'ok', 318],
  ['browser', { action: 'open', url: 'https://grafana.example.org/d/nodes' }, 'ok', 2_140],
  ['browser', { action: 'screenshot' }, 'ok', 433],
  ['snippet_kb', { action: 'search', query: 'how to fail over db-1' }, 'ok', 37],
  ['ssh_exec', { device: 'laptop-1', command: 'df -h /' }, 'error', 6, { error_code: 'device_offline' }],
  ['ssh_exec', { device: 'db-1', command: 'rm -rf /var/lib/postgresql' }, 'blocked', 0, { rule: 'rm -rf' }],
  [
    'fetch_external',
    { url: 'http://169.254.169.254/latest/meta-data/' },
    'error',
    1,
    { error_code: 'domain_not_allowed', rule: 'PROXY_ALLOWED_DOMAINS' },
  ],
  ['ssh_exec', { device: 'web-1', command: 'journalctl -u shop -n 50 --no-pager' }, 'ok', 204],
  ['snippet_kb', { action: 'update', id: '4f1c', expected_version: '9b2e' }, 'ok', 702],
];

/** How busy each tool was, as weights of a repeatable pattern. */
const RATES: [tool: string, most: number, ms: number][] = [
  ['ssh_exec', 9, 160],
  ['mesh_status', 3, 70],
  ['fetch_external', 6, 320],
  ['code_search', 2, 640],
  ['snippet_kb', 4, 45],
  ['browser', 5, 1_500],
];

export interface DemoConsole {
  base: string;
  /** The way in, with the secret. */
  url: string;
  close(): Promise<void>;
}

/** The console over made-up data of a small network: for pictures, and for what no server can be brought to show. */
export async function startDemoConsole(instead: Partial<ConsoleParts> = {}): Promise<DemoConsole> {
  const { config, sources } = loadConfig({
    MCP_SECRET: DEMO_SECRET,
    MESH_API_KEY: 'demo-mesh-api-key',
    CODE_HOST_TOKEN: 'demo-code-host-token',
    PROXY_ALLOWED_DOMAINS: 'status.example.org,api.example.com',
    SSH_BLOCKED_COMMANDS: 'rm -rf,mkfs',
    PUBLIC_HOST: 'mcp.example.org',
  });
  const parts: ConsoleParts = {
    ...config.server,
    authenticated: createAuthenticator(DEMO_SECRET),
    clientAddress: async () => '203.0.113.7',
    tools: TOOLS,
    mesh: {
      network: 'demo-mesh.ts.net',
      devices: async () => DEVICES,
      device: async () => Promise.reject(new Error('not in the demo')),
    },
    health: { brief: () => ({ dry_run: false }), verbose: async () => HEALTH },
    history: demoHistory(),
    jobs: { list: () => JOBS, cancel: async () => true },
    trail: demoTrail(),
    record: async () => {},
    settings: () => describeSettings(config, sources),
    redact: (text) => text,
    log: silentLog,
    ...instead,
  };
  const app = new Hono().route('/console', createConsole(parts) as unknown as Hono);
  const server = await listen(app.fetch, { host: '127.0.0.1', port: 0 });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    base,
    url: `${base}/console?token=${DEMO_SECRET}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}

const check = (detail: string, latency_ms: number, ok = true) => ({ ok, detail, latency_ms });

const HEALTH = {
  version: '0.1.0',
  uptime_seconds: 4 * 24 * 3_600 + 3 * 3_600,
  checks: {
    mesh: check('3 of 4 devices online', 81),
    code_host: check('4,871 of 5,000 requests left', 164),
    ssh_key: check('loaded', 0),
    browser: check('Chrome/142.0 at ws://chromium:9222', 9),
    audit: check('/data/audit/service-audit.log', 0),
  },
};

function demoHistory() {
  let now = 0;
  const real = Date.now();
  const history = createHistory(() => now);
  for (let minute = 59; minute >= 0; minute -= 1) {
    now = real - minute * MINUTE;
    RATES.forEach(([tool, most, ms], place) => {
      const wave = 0.9 + Math.sin(minute / (4 + place) + place * 2) + Math.sin(minute * 2.3 + place);
      const calls = Math.max(0, Math.round((wave * most) / 3));
      for (let nth = 0; nth < calls; nth += 1) {
        const outcome = (minute * 7 + nth * 3 + place) % 31 === 0 ? 'error' : 'ok';
        history.add({ tool, outcome, seconds: (ms / 1000) * (0.6 + ((nth * 37 + minute * 11) % 23) / 9) });
      }
    });
    if (minute === 12 || minute === 31) history.add({ tool: 'ssh_exec', outcome: 'blocked', seconds: 0.001 });
  }
  now = real;
  return history;
}

function demoTrail() {
  const trail = createTrail();
  const add = (record: AuditRecord) => trail.written(Buffer.from(`${JSON.stringify(record)}\n`));
  const client = { name: 'claude-ai/1.0', ip: '203.0.113.7' };
  CALLS.forEach(([tool, args, outcome, ms, more], at) => {
    const id = randomUUID();
    const time = ago((CALLS.length - at) * 1.7);
    const refused = outcome === 'blocked' || ms === 1;
    if (!refused) {
      add({ event: 'intent', time, id, tool, client, arguments: args, decision: 'allow' });
      add({
        event: 'outcome',
        time,
        id,
        tool,
        client,
        outcome,
        duration_ms: ms,
        bytes: 1_800 + at * 97,
        ...more,
      });
      return;
    }
    add({
      event: 'refused',
      time,
      id,
      tool,
      client,
      arguments: args,
      decision: 'refuse',
      outcome,
      ...more,
    });
  });
  add({
    event: 'intent',
    time: ago(0.1),
    id: randomUUID(),
    tool: 'ssh_exec',
    client,
    arguments: { device: 'backup-1', command: 'restic check --read-data-subset=5%', timeout_seconds: 600 },
    decision: 'allow',
  });
  return trail;
}
