import { ToolError, messageOf, systemCodeOf } from '../../core/errors.ts';
import type { Device } from '../../mesh/device.ts';
import { keyFault } from '../../tools/ssh-exec/key.ts';
import { probeDevice } from '../../tools/ssh-exec/probe.ts';
import type { SshSettings } from '../../tools/ssh-exec/settings.ts';
import type { KeyFile } from '../privileges.ts';
import { writableFile } from './files.ts';
import { type Finding, LONGEST_MS, fail, failure, ok, settle, warn } from './report.ts';

export async function checkKey(key: KeyFile): Promise<Finding> {
  const name = 'SSH key';
  if (key.state === 'missing') {
    return warn(
      name,
      `no file at ${key.path}`,
      'Only devices with the SSH method "none" can be reached; else make a key (ssh-keygen -t ed25519 -N "") and set SSH_KEY_PATH.',
    );
  }
  if (key.state === 'fault') {
    const mend = /\((?:EACCES|EPERM)\)/.test(key.message)
      ? 'The key is read before the server becomes its own user: run the doctor as the one who starts the server (in the container: as root, without --user).'
      : 'The server does not start like this.';
    return fail(name, key.message, mend);
  }
  const fault = await keyFault(key.text);
  if (fault !== undefined) return fail(name, fault, 'Put a private key without a passphrase there.');
  return (Number.parseInt(key.permissions, 8) & 0o077) === 0
    ? ok(name, `readable, permissions ${key.permissions}`)
    : ok(name, `readable; its permissions were ${key.permissions} and are 600 now`);
}

/** Where a host key cannot be filed, no new device can be connected to. */
export async function checkKnownHosts({ knownHostsPath: path }: SshSettings): Promise<Finding> {
  const name = 'SSH host keys';
  try {
    const there = await writableFile(path, { followLinks: true });
    return ok(name, there ? `kept in ${path}` : `none yet; they will be kept in ${path}`);
  } catch (error) {
    return fail(
      name,
      `${path} cannot be used: ${messageOf(error)}`,
      'Make SSH_KNOWN_HOSTS_PATH a file that the server may read and write, on a disk that stays.',
    );
  }
}

export interface DevicesParts {
  settings: SshSettings;
  devices: () => Promise<Device[]>;
  privateKey: string | undefined;
}

const AT_A_TIME = 8;
/** Systems on which no SSH server can be had. */
const WITHOUT_SSH = /^(?:ios|ipados|tvos|android)$/i;

/** A login to each online device, several at a time; each has its own time. */
export async function checkDevices(parts: DevicesParts): Promise<Finding[]> {
  let online: Device[];
  try {
    online = (await parts.devices()).filter((device) => device.online);
  } catch {
    return [warn('SSH devices', 'not looked at: their list could not be read', 'See the line "mesh API".')];
  }
  if (online.length === 0)
    return [warn('SSH devices', 'none is online', 'Turn one on; mesh_status lists them.')];
  const findings: Finding[][] = [];
  const waiting = [...online.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [at, device] = next;
      findings[at] = await settle({
        name: `SSH ${device.name}`,
        run: (signal) => checkDevice(device, parts, signal),
      });
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return findings.flat();
}

async function checkDevice(
  device: Device,
  { settings, privateKey }: DevicesParts,
  signal: AbortSignal,
): Promise<Finding> {
  const name = `SSH ${device.name}`;
  if (device.os !== null && WITHOUT_SSH.test(device.os))
    return ok(name, `not tried: ${device.os} has no SSH server`);
  // A little less than the check's own time, so that what it says of a silence is heard.
  const timeoutMs = Math.min(settings.connectTimeoutSeconds * 1000, LONGEST_MS - 500);
  try {
    const { address, user, method, hostKey } = await probeDevice(
      device,
      { settings, privateKey, timeoutMs },
      signal,
    );
    const by = method === 'none' ? 'the method "none"' : 'the key';
    const keyWords = hostKey === 'known' ? 'host key known' : 'host key new: filed at the first command';
    return ok(name, `${user} at ${address} logs in by ${by}; ${keyWords}`);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    // Not every member of a network is meant to be logged in to.
    if (systemCodeOf(error.cause) === 'ECONNREFUSED') return { ...failure(name, error), status: 'warn' };
    return failure(name, error);
  }
}
