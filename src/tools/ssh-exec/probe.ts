import type { Device } from '../../mesh/device.ts';
import { createKnownHosts, type KnownHosts } from './known-hosts.ts';
import type { SshSettings } from './settings.ts';
import { connect } from './ssh.ts';
import { targetFor } from './tool.ts';

export interface ProbeResult {
  address: string;
  user: string;
  /** The authentication method that the device accepted. */
  method: 'none' | 'publickey';
  hostKey: 'known' | 'new';
}

export interface ProbeParts {
  settings: SshSettings;
  privateKey: string | undefined;
  timeoutMs: number;
}

/**
 * Logs in to a device as ssh_exec would and leaves again; runs nothing there and files no host key.
 * @throws ToolError `ssh_unreachable`, `ssh_auth_failed`, `host_key_changed`, or the signal's reason
 */
export async function probeDevice(
  device: Device,
  { settings, privateKey, timeoutMs }: ProbeParts,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const target = targetFor(device, device.name, settings.defaultUser, settings.port);
  const file = createKnownHosts(settings.knownHostsPath);
  let hostKey: ProbeResult['hostKey'] = 'new';
  const knownHosts: KnownHosts = {
    ...file,
    check: async (host, key) => {
      hostKey = await file.look(host, key);
    },
  };
  const connection = await connect(target, { knownHosts, privateKey, timeoutMs }, signal);
  connection.end();
  return { address: target.address, user: target.user, method: connection.method, hostKey };
}
