import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { DEVICE, type Devices, NODE, docker } from './devices.ts';

/** OpenSSH's client, of the same release as the devices' server: nothing of the machine's own is needed. */
export interface OpenSsh {
  /** Times in ms of so many commands over one ControlMaster connection to a device. */
  warm(device: number, count: number): number[];
  /** Time in ms of a whole `ssh`, login included, to each of the devices; their host keys are known. */
  fresh(devices: readonly number[]): number[];
  /** Time in ms of a command over the ControlMaster connection, its output thrown away. */
  one(device: number, command: string): number;
}

export function startOpenSsh(devices: Devices): OpenSsh {
  const id = docker(
    ...devices.container(['--detach', '--volume', `${devices.directory}:/bench:ro`]),
    ...['--entrypoint', 'sleep', DEVICE, 'infinity'],
  );
  const options =
    '-F none -i /root/key -o UserKnownHostsFile=/root/known_hosts -o StrictHostKeyChecking=accept-new -o LogLevel=ERROR';
  const address = (device: number) => `demo@${devices.addresses[device]}`;
  const bash = (script: string) =>
    execFileSync('docker', ['exec', '--interactive', id, 'bash', '-s'], {
      input: `set -e\n${script}`,
      encoding: 'utf8',
    });
  // Its own, because ssh takes no key that another account owns.
  bash(`install -m 600 /bench/key /root/key`);
  for (const device of devices.addresses.keys()) {
    const control = `-o ControlPath=/root/control-${device}`;
    bash(`ssh ${options} ${control} -o ControlMaster=yes -o ControlPersist=yes -n ${address(device)} true`);
  }
  const timed = (commands: readonly string[]) => {
    const script = commands.map((command) => `a=$EPOCHREALTIME; ${command}; b=$EPOCHREALTIME; echo "$a $b"`);
    return bash(script.join('\n'))
      .trim()
      .split('\n')
      .map((line) => {
        const [from, to] = line.split(' ').map(Number);
        return ((to ?? Number.NaN) - (from ?? Number.NaN)) * 1_000;
      });
  };
  const muxed = (device: number, command: string) =>
    `ssh ${options} -o ControlPath=/root/control-${device} -n ${address(device)} '${command}' >/dev/null`;
  return {
    warm: (device, count) => timed(Array.from({ length: count }, () => muxed(device, 'true'))),
    fresh: (which) => timed(which.map((device) => `ssh ${options} -n ${address(device)} true`)),
    one: (device, command) => timed([muxed(device, command)])[0] ?? Number.NaN,
  };
}

/** Runs raw.mjs, and returns the numbers it printed. */
export function raw(devices: Devices, ...args: readonly (string | number)[]): number[] {
  const script = join(process.cwd(), 'bench/ssh/raw.mjs');
  const command = devices.container([
    '--rm',
    ...['--volume', `${devices.directory}:/bench:ro`, '--volume', `${script}:/raw.mjs:ro`],
    ...[NODE, 'node', '/raw.mjs', ...args.map(String)],
  ]);
  return JSON.parse(docker(...command)) as number[];
}
