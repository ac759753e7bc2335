import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { sshKeyPair } from '../../test/support/ssh-keys.ts';

/** Images that the bench builds for itself; the tests' and the appliance's stay as they are. */
export const DEVICE = 'remote-tool-server/bench-device';
/** Node and the product's dependencies with ssh2's native parts, as in the server's image. */
export const NODE = 'remote-tool-server/bench-node';

/** The demo's device; sshd as it is configured there, but that it admits as many logins at a time as are made here. */
const START = `set -eu
ssh-keygen -q -t ed25519 -N '' -f /var/lib/host-keys/ssh_host_ed25519_key
mkdir -p /run/sshd
echo "$PUBLIC_KEY" >/run/sshd/authorized_keys
exec /usr/sbin/sshd -D -e -o PasswordAuthentication=no -o MaxStartups=100`;

/** SSH devices in containers, which log in "demo" with one key. */
export interface Devices {
  addresses: string[];
  /** A directory with the key (`key`) and OpenSSH's known hosts (`known_hosts`). */
  directory: string;
  /** Arguments for a container on the host's network, which goes with the rest at the end. */
  container(args: readonly string[]): string[];
  stop(): void;
}

export function docker(...args: string[]): string {
  return execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** Starts an engine where there is none, builds what is missing, and starts `count` devices. */
export async function startDevices(count: number, say: (text: string) => void): Promise<Devices> {
  for (const script of ['deploy/lib/ensure-engine.sh', 'deploy/lib/ensure-images.sh']) {
    execFileSync(script, { stdio: ['ignore', 'inherit', 'inherit'] });
  }
  say('building the images');
  docker('build', '--quiet', '--target', 'demo-device', '--tag', DEVICE, '.');
  docker('build', '--quiet', '--target', 'production', '--tag', NODE, '.');

  const run = `rts-bench-${randomBytes(4).toString('hex')}`;
  const directory = mkdtempSync(join(tmpdir(), 'bench-ssh-'));
  const keys = sshKeyPair();
  writeFileSync(join(directory, 'key'), keys.private, { mode: 0o600 });
  const stop = () => {
    const left = docker('ps', '--all', '--quiet', '--filter', `label=${run}`);
    if (left !== '') spawnSync('docker', ['rm', '--force', '--volumes', ...left.split('\n')]);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const addresses = Array.from({ length: count }, () => {
      const id = docker(
        ...['run', '--detach', '--label', run, '--env', `PUBLIC_KEY=${keys.public}`],
        ...['--entrypoint', 'sh', DEVICE, '-c', START],
      );
      return docker('inspect', '--format', '{{.NetworkSettings.IPAddress}}', id);
    });
    await Promise.all(addresses.map(untilListening));
    return {
      addresses,
      directory,
      container: (args) => ['run', '--label', run, '--network', 'host', '--init', ...args],
      stop,
    };
  } catch (error) {
    stop();
    throw error;
  }
}

async function untilListening(address: string): Promise<void> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    const socket = createConnection(22, address);
    const answered = await once(socket, 'data').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (answered) return;
    await wait(50);
  }
  throw new Error(`no SSH server at ${address} after a minute`);
}

/** Reads the resident memory of a container's process, in MB. */
export function memoryOf(container: string): () => number {
  const engines = docker('inspect', '--format', '{{.State.Pid}}', container);
  // With --init the process is the child of the engine's own.
  const [own = ''] = readFileSync(`/proc/${engines}/task/${engines}/children`, 'utf8').split(' ');
  const status = `/proc/${own || engines}/status`;
  return () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]) / 1024;
}
