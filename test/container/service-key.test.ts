import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { sshKeyPair } from '../support/ssh-keys.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const docker = async (...args: string[]) => (await run('docker', args)).stdout;
const KEY = Buffer.from(sshKeyPair().private).toString('base64');
const IMAGE = 'remote-tool-server/server:0.1.0';

/** The server's own confinement, as docker-compose.yml sets it. */
const CONFINED = [
  ...['--read-only', '--cap-drop', 'ALL', '--cap-add', 'SETUID', '--cap-add', 'SETGID'],
  ...[
    '--security-opt',
    'no-new-privileges:true',
    '--tmpfs',
    '/tmp',
    '--tmpfs',
    '/data/audit:uid=10001,mode=700',
  ],
];
const ENV = {
  MCP_SECRET: 'a'.repeat(64),
  MESH_API_KEY: 'mesh-key-1',
  CODE_HOST_TOKEN: 'host-token-1',
  MESH_API_URL: 'http://127.0.0.1:9',
  AUDIT_LOG_PATH: '/data/audit/service-audit.log',
  SSH_KEY_PATH: '/keys/service-key',
};

let volume: string;
let name: string;
beforeEach(async () => {
  const id = randomBytes(4).toString('hex');
  [volume, name] = [`rts-key-${id}`, `rts-key-${id}`];
  await docker('volume', 'create', volume);
});
afterEach(async () => {
  await docker('rm', '--force', name).catch(() => '');
  await docker('volume', 'rm', '--force', volume);
});

/** Runs a shell command as root on the volume that holds the key. */
const onVolume = (command: string) =>
  docker(
    'run',
    '--rm',
    '--user',
    '0',
    '--entrypoint',
    'sh',
    '--volume',
    `${volume}:/keys`,
    IMAGE,
    '-c',
    command,
  );

const writeKey = (owner: string, mode: string) =>
  onVolume(
    `echo ${KEY} | base64 -d > /keys/service-key && chmod ${mode} /keys/service-key && chown ${owner} /keys/service-key`,
  );

const start = (mount: 'ro' | 'rw') =>
  docker(
    ...['run', '--detach', '--name', name, ...CONFINED],
    ...Object.entries(ENV).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...['--volume', `${volume}:/keys:${mount}`, IMAGE],
  );

const logs = async () => {
  const { stdout, stderr } = await run('docker', ['logs', name]);
  return stdout + stderr;
};

describe('the SSH key of the container', () => {
  it.each([
    ['root', '0:0', 'ro'],
    ['root', '0:0', 'rw'],
    ['the host’s ordinary user', '1000:1000', 'ro'],
    ['the host’s ordinary user', '1000:1000', 'rw'],
  ] as const)('is read when it belongs to %s (%s, mounted %s)', async (_, owner, mount) => {
    await writeKey(owner, '600');
    await start(mount);
    await until('the server listens', async () => (await logs()).includes('GET  http://'));
    expect(await logs()).not.toContain('No SSH key');
    expect(await docker('exec', name, 'sh', '-c', 'grep ^Uid: /proc/1/status')).toMatch(
      /10001\s+10001\s+10001\s+10001/,
    );
  });

  it('is set to 600 where the mount can be written, whoever owns it', async () => {
    await writeKey('1000:1000', '644');
    await start('rw');
    await until('the server listens', async () => (await logs()).includes('GET  http://'));
    expect(await onVolume('stat -c %a:%u /keys/service-key')).toBe('600:1000\n');
  });

  it('stops the start, with what to do, where others can read it and the mount is read-only', async () => {
    await writeKey('0:0', '644');
    await start('ro');
    expect(await docker('wait', name)).toBe('1\n');
    expect(await logs()).toContain(
      "SSH key /keys/service-key has permissions 644, so others can read it, and they cannot be changed here (EROFS). Run chmod 600 on the host's file.",
    );
  });

  it('stops the start where the engine made a directory in its place', async () => {
    await onVolume('mkdir /keys/service-key');
    await start('ro');
    expect(await docker('wait', name)).toBe('1\n');
    expect(await logs()).toContain('SSH key /keys/service-key is a directory.');
  });
});
