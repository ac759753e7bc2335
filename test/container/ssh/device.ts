import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';

import type { SshSettings } from '../../../src/tools/ssh-exec/settings.ts';
import { type Rig, createRig } from './rig.ts';
import { sshKeyPair } from '../../support/ssh-keys.ts';

const run = promisify(execFile);
// Built by the container tests' set-up, as part of the demo.
const IMAGE = process.env['DEMO_DEVICE_IMAGE'] ?? 'remote-tool-server/demo-device:0.1.0';

export const KEY = sshKeyPair();

/** The demo's device as a container of its own, but for root logins and an account with bash. */
const START = `set -eu
ssh-keygen -q -t ed25519 -N '' -f /var/lib/host-keys/ssh_host_ed25519_key
mkdir -p /run/sshd
echo "$PUBLIC_KEY" >/run/sshd/authorized_keys
useradd --create-home --shell /bin/bash basher && passwd -d basher && passwd -d root
sed -i -e '/^AllowUsers/d' -e '/^PermitRootLogin/d' /etc/ssh/sshd_config
exec /usr/sbin/sshd -D -e -o PermitRootLogin=yes -o MaxStartups=100 "$@"`;

export async function startDevice(...sshdOptions: string[]): Promise<StartedTestContainer> {
  return new GenericContainer(IMAGE)
    .withEntrypoint(['sh', '-c', START, 'sh'])
    .withCommand(sshdOptions.flatMap((option) => ['-o', option]))
    .withEnvironment({ PUBLIC_KEY: KEY.public })
    .withExposedPorts(22)
    .withWaitStrategy(Wait.forLogMessage(/Server listening on 0\.0\.0\.0/))
    .start();
}

/** For a log that shows each request; as root, commands then find sshd's words in their stderr. */
export const TALKATIVE = 'LogLevel=DEBUG1';
export const NONE = ['PasswordAuthentication=yes', 'PermitEmptyPasswords=yes'];

export function rigFor(
  container: StartedTestContainer,
  settings: Partial<SshSettings> = {},
  key?: string,
): Rig {
  return createRig(container.getHost(), container.getMappedPort(22), settings, key);
}

/** Processes on the device whose command line holds the text. */
export async function processes(container: StartedTestContainer, text: string): Promise<string> {
  const { output } = await container.exec(['pgrep', '-fa', text]);
  return output.trim();
}

/** Everything sshd has written so far. */
export async function logOf(container: StartedTestContainer): Promise<string> {
  return (await run('docker', ['logs', container.getId()], { maxBuffer: 64 * 1024 * 1024 })).stderr;
}

export async function kill(container: StartedTestContainer): Promise<void> {
  await run('docker', ['kill', container.getId()]);
}

/** Stops a container from running, without a word to whoever is connected to it. */
export async function pause(container: StartedTestContainer): Promise<void> {
  await run('docker', ['pause', container.getId()]);
}

export async function unpause(container: StartedTestContainer): Promise<void> {
  await run('docker', ['unpause', container.getId()]);
}
