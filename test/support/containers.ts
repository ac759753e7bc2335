import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { DockerComposeEnvironment, type StartedDockerComposeEnvironment, Wait } from 'testcontainers';
import type { TestProject } from 'vitest/node';

import { freePort } from './server.ts';
import { sshKeyPair } from './ssh-keys.ts';

/** The composed stack that the container tests share: the appliance behind Caddy with the demo's network. */
export interface Stack {
  /** Name of the compose project; a service's container is `${project}-${service}-1`. */
  project: string;
  /** `https://localhost:PORT` */
  base: string;
  secret: string;
  meshKey: string;
  codeHostToken: string;
  /** File with Caddy's root certificate, for NODE_EXTRA_CA_CERTS. */
  caFile: string;
  /** What compose needs to find the project again: `docker compose` runs with this environment. */
  composeEnv: Record<string, string>;
}

declare module 'vitest' {
  interface ProvidedContext {
    stack: Stack;
  }
}

const SERVICES = ['server', 'caddy', 'chromium', 'egress', 'demo-apis', 'web-1', 'db-1', 'demo-site'];

const NETWORKS = ['public', 'outside', 'web', 'edge', 'browser', 'browsing', 'demo-mesh', 'demo-web'];

let directory: string;
let environment: StartedDockerComposeEnvironment | undefined;

export async function setup({ provide }: TestProject): Promise<void> {
  // The same scripts as deploy/up: a machine without an engine or a registry gets what it needs.
  for (const script of ['deploy/lib/ensure-engine.sh', 'deploy/lib/ensure-images.sh']) {
    execFileSync(script, { stdio: ['ignore', 'inherit', 'inherit'] });
  }
  disableReaperWhereItCannotBePulled();

  directory = mkdtempSync(join(tmpdir(), 'stack-'));
  const project = `rts-test-${randomBytes(4).toString('hex')}`;
  const port = await freePort();
  const secret = randomBytes(32).toString('hex');
  const meshKey = 'demo-mesh-api-key';
  const codeHostToken = 'demo-code-host-token';
  const keyFile = join(directory, 'service-key');
  const keys = sshKeyPair('ed25519', { comment: 'container-test' });
  writeFileSync(keyFile, keys.private, { mode: 0o600 });
  writeFileSync(`${keyFile}.pub`, keys.public);
  const envFile = join(directory, 'env');
  writeFileSync(
    envFile,
    [
      `MCP_SECRET=${secret}`,
      `MESH_API_KEY=${meshKey}`,
      `CODE_HOST_TOKEN=${codeHostToken}`,
      'PROXY_ALLOWED_DOMAINS=demo-site',
      'FETCH_ALLOW_PRIVATE_DOMAINS=demo-site',
      'SSH_BLOCKED_COMMANDS=mkfs',
      '',
    ].join('\n'),
    { mode: 0o600 },
  );
  // Readable by the server's own account; a test puts a YAML file there.
  const configDir = join(directory, 'config');
  mkdirSync(configDir);
  chmodSync(directory, 0o755);
  chmodSync(configDir, 0o755);
  const networksFile = join(directory, 'networks.yml');
  writeFileSync(networksFile, networks());
  const files = ['docker-compose.yml', 'docker-compose.demo.yml', networksFile];
  const composeEnv = {
    CONFIG_DIR: configDir,
    COMPOSE_PROJECT_NAME: project,
    COMPOSE_FILE: files.join(':'),
    COMPOSE_PROJECT_DIRECTORY: '.',
    ENV_FILE: envFile,
    SSH_KEY_FILE: keyFile,
    HTTPS_PORT: String(port),
    PUBLIC_HOST: 'localhost',
    NETWORK_MTU: '1400',
  };

  let compose = new DockerComposeEnvironment('.', files)
    .withProjectName(project)
    .withEnvironment({ ...(process.env as Record<string, string>), ...composeEnv })
    .withBuild()
    .withStartupTimeout(120_000);
  for (const service of SERVICES) {
    compose = compose.withWaitStrategy(`${service}-1`, Wait.forHealthCheck());
  }
  environment = await compose.up();

  const caFile = join(directory, 'caddy-root.crt');
  const root = await environment
    .getContainer('caddy-1')
    .exec(['cat', '/data/caddy/pki/authorities/local/root.crt']);
  writeFileSync(caFile, root.output);
  if (!readFileSync(caFile, 'utf8').includes('BEGIN CERTIFICATE'))
    throw new Error('Caddy made no certificate');
  provide('stack', {
    project,
    base: `https://localhost:${port}`,
    secret,
    meshKey,
    codeHostToken,
    caFile,
    composeEnv,
  });
}

export async function teardown(): Promise<void> {
  await environment?.down({ removeVolumes: true });
  rmSync(directory, { recursive: true, force: true });
}

/** Small networks of their own: the engine's default ones are for some thirty networks, which is three stacks. */
function networks(): string {
  const prefix = `10.${randomInt(214, 250)}.${randomInt(256)}`;
  const lines = NETWORKS.map(
    (name, index) => `  ${name}: {ipam: {config: [{subnet: ${prefix}.${index * 32}/27}]}}`,
  );
  return `networks:\n${lines.join('\n')}\n`;
}

/** testcontainers' reaper is an image of its own; without a registry teardown does its work. */
function disableReaperWhereItCannotBePulled(): void {
  const pulled = spawnSync('docker', ['pull', '--quiet', 'testcontainers/ryuk:0.14.0'], { timeout: 60_000 });
  if (pulled.status !== 0) process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';
}
