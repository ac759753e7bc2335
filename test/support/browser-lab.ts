import { execFile } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { type Browser, chromium } from 'playwright-core';

import { sshKeyPair } from './ssh-keys.ts';

const run = promisify(execFile);
const SERVICES = ['server', 'chromium', 'egress', 'pages'];

/** What a browser call answered. */
export interface Answer {
  isError: boolean;
  value: Record<string, unknown> & {
    url?: string;
    text?: string;
    notices?: string[];
    error?: { code: string; message: string; hint?: string; retry_after_seconds?: number };
  };
  blocks: Record<string, unknown>[];
}

/** The appliance's server, Chromium and egress proxy, as composed, with a site to browse. */
export interface Lab {
  call(args: Record<string, unknown>, signal?: AbortSignal): Promise<Answer>;
  /** What a call that succeeds answered. */
  value(args: Record<string, unknown>): Promise<Answer['value']>;
  /** What a script says in the page of the site whose path begins so, asked by Playwright. */
  seen(path: string, script: string): Promise<unknown>;
  /** Opens a page of the site in a session. */
  open(path: string, session?: string): Promise<Answer>;
  /** What the site was asked for, and under which name. */
  hits(): Promise<string[]>;
  /** The independent eye: Playwright on the same Chromium. It looks, and is gone before anything else is done. */
  see<T>(look: (browser: Browser) => Promise<T>): Promise<T>;
  /** Address of a service on a network of the project's. */
  address(service: string, network: string): Promise<string>;
  docker(...args: string[]): Promise<string>;
  container(service: string): string;
  stop(): Promise<void>;
}

/** What a lab has beyond the usual. */
export interface LabOptions {
  /** Compose files on top of the lab's own. */
  files?: readonly string[];
  /** Services of the appliance that are started, too. */
  services?: readonly string[];
  /** Builds the images first, where no container test has. */
  build?: boolean;
}

export async function startLab({ files = [], services = [], build = false }: LabOptions = {}): Promise<Lab> {
  const project = `rts-browser-${randomBytes(4).toString('hex')}`;
  const directory = mkdtempSync(join(tmpdir(), 'browser-lab-'));
  const site = `10.213.${randomInt(256)}`;
  const secret = randomBytes(32).toString('hex');
  const keyFile = join(directory, 'service-key');
  writeFileSync(keyFile, sshKeyPair().private, { mode: 0o600 });
  const envFile = join(directory, 'env');
  writeFileSync(
    envFile,
    `MCP_SECRET=${secret}\nMESH_API_KEY=unused-mesh-key\nCODE_HOST_TOKEN=unused-token\n`,
  );
  const env = {
    ...process.env,
    COMPOSE_PROJECT_NAME: project,
    COMPOSE_FILE: ['docker-compose.yml', 'test/support/browser.compose.yml', ...files].join(':'),
    COMPOSE_PROJECT_DIRECTORY: '.',
    ENV_FILE: envFile,
    SSH_KEY_FILE: keyFile,
    NETWORK_MTU: '1400',
    // The site is a name server too, so its address must be known beforehand; high, because the engine counts from below.
    SITE_SUBNET: `${site}.0/24`,
    SITE_ADDRESS: `${site}.200`,
    MESH_SUBNET: `100.${64 + randomInt(64)}.${randomInt(256)}.0/24`,
    HTTP_PORT: '0',
    HTTPS_PORT: '0',
  };
  const docker = async (...args: string[]) =>
    (await run('docker', args, { env, maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
  const compose = (...args: string[]) => docker('compose', '--project-directory', '.', ...args);
  const container = (service: string) => `${project}-${service}-1`;
  const address = (service: string, network: string) =>
    docker(
      'inspect',
      '--format',
      `{{(index .NetworkSettings.Networks "${project}_${network}").IPAddress}}`,
      container(service),
    );

  const stop = async () => {
    await compose('down', '--volumes', '--timeout', '15');
    rmSync(directory, { recursive: true, force: true });
  };
  await compose(
    'up',
    '--detach',
    build ? '--build' : '--no-build',
    '--wait',
    '--wait-timeout',
    '120',
    ...SERVICES,
    ...services,
  ).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const server = `http://${await address('server', 'outside')}:3000/mcp?token=${secret}`;

  async function call(args: Record<string, unknown>, signal?: AbortSignal): Promise<Answer> {
    const response = await fetch(server, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'browser', arguments: args },
      }),
      ...(signal && { signal }),
    });
    const { result } = (await response.json()) as {
      result: { isError?: boolean; structuredContent: Answer['value']; content: Answer['blocks'] };
    };
    const { isError = false, structuredContent: value, content } = result;
    return { isError, value, blocks: content.slice(1) };
  }

  async function see<T>(look: (browser: Browser) => Promise<T>): Promise<T> {
    const browser = await chromium.connectOverCDP(`http://${await address('chromium', 'browser')}:9222`);
    try {
      return await look(browser);
    } finally {
      await browser.close();
    }
  }

  return {
    call,
    async value(args) {
      const answer = await call(args);
      if (answer.isError) throw new Error(JSON.stringify(answer.value));
      return answer.value;
    },
    open: (path, session = 'default') => call({ action: 'open', url: `http://pages${path}`, session }),
    async hits() {
      const response = await fetch(`http://${await address('pages', 'site')}/hits`);
      return (await response.json()) as string[];
    },
    see,
    seen: (path, script) =>
      see(async (browser) => {
        const pages = browser.contexts().flatMap((context) => context.pages());
        const page = pages.find((candidate) => candidate.url().startsWith(`http://pages${path}`));
        return page?.evaluate(script);
      }),
    address,
    docker,
    container,
    stop,
  };
}
