import ipaddr from 'ipaddr.js';

import { ToolError } from '../core/errors.ts';
import type { Device } from './device.ts';
import { withoutTrailingDot } from './fields.ts';
import { nearest } from './nearest.ts';
import type { ListedDevice } from './provider.ts';

/** One reading of the network, indexed so that a device is found without walking the list. */
export interface Directory {
  readonly devices: Device[];
  /** The DNS suffix that most devices share (`tail1234.ts.net`); null without DNS names. */
  readonly dnsSuffix: string | null;
  /**
   * A device by mesh address, DNS name, short name or host's own name, in that order: a short name is unique in
   * its network, the host's own name need not be.
   * @throws ToolError `device_not_found`, or `invalid_input` when several devices bear the name
   */
  find(name: string): Device;
}

export function createDirectory(listed: ListedDevice[]): Directory {
  const devices = listed.map(({ device }) => device);
  let addresses: Index | undefined;
  const dnsNames = new Index();
  const names = new Index();
  const aliases = new Index();
  const suffixes = new Map<string, number>();
  for (const { device, aliases: others } of listed) {
    names.add(device.name, device);
    for (const alias of others) aliases.add(alias, device);
    if (device.dns_name === null) continue;
    dnsNames.add(device.dns_name, device);
    const suffix = device.dns_name.slice(device.name.length + 1);
    suffixes.set(suffix, (suffixes.get(suffix) ?? 0) + 1);
  }
  /** Made when the first device is asked for by address: to normalise them all takes longer than all the rest. */
  const byAddress = () => {
    if (addresses) return addresses;
    addresses = new Index();
    for (const device of devices) {
      for (const address of device.addresses) addresses.add(canonicalAddress(address) ?? address, device);
    }
    return addresses;
  };
  const [commonest] = [...suffixes].sort(([, a], [, b]) => b - a);

  return {
    devices,
    dnsSuffix: commonest?.[0] || null,
    find(name) {
      const asked = withoutTrailingDot(name.trim());
      const address = canonicalAddress(asked);
      const found =
        address === null
          ? (dnsNames.get(asked) ?? names.get(asked) ?? aliases.get(asked))
          : byAddress().get(address);
      const [device, ...others] = found ?? [];
      if (!device) throw notFound(asked, devices);
      if (others.length > 0) throw ambiguous(asked, [device, ...others]);
      return device;
    },
  };
}

/** Devices by a key whose letters' case doesn't count. */
class Index {
  readonly #entries = new Map<string, Device[]>();

  add(key: string, device: Device): void {
    const folded = key.toLowerCase();
    const known = this.#entries.get(folded);
    if (!known) this.#entries.set(folded, [device]);
    else if (!known.includes(device)) known.push(device);
  }

  get(key: string): Device[] | undefined {
    return this.#entries.get(key.toLowerCase());
  }
}

/** The one textual form of an IP address; null for anything else. */
function canonicalAddress(value: string): string | null {
  const bare = value.replace(/^\[(.*)\]$/, '$1');
  // Most are names, and ipaddr.js throws and catches an error of its own for each.
  if (!bare.includes(':') && !/^[\d.]+$/.test(bare)) return null;
  // Only the four-part form: to ipaddr.js a device named "10" would be an address as well.
  if (!ipaddr.IPv6.isValid(bare) && !ipaddr.IPv4.isValidFourPartDecimal(bare)) return null;
  return ipaddr.process(bare).toNormalizedString();
}

const MOST_NAMED = 10;

function ambiguous(asked: string, candidates: Device[]): ToolError {
  const named = candidates
    .slice(0, MOST_NAMED)
    .map((device) => device.dns_name ?? device.addresses[0] ?? device.name);
  const more = candidates.length > MOST_NAMED ? ` and ${candidates.length - MOST_NAMED} more` : '';
  return new ToolError('invalid_input', `"${clip(asked)}" is the name of ${candidates.length} devices.`, {
    hint: `Name one of them in full: ${named.join(', ')}${more}.`,
  });
}

function notFound(asked: string, devices: Device[]): ToolError {
  const similar = nearest(
    asked,
    devices.map(({ name }) => name),
  );
  const guess = similar.length > 0 ? `Did you mean ${similar.join(', ')}? ` : '';
  return new ToolError('device_not_found', `No device of the mesh network is called "${clip(asked)}".`, {
    hint: `${guess}mesh_status lists the devices.`,
  });
}

/** A device's name has 63 characters at most; what is longer need not be repeated in full. */
function clip(asked: string): string {
  return asked.length > 64 ? `${asked.slice(0, 64)}…` : asked;
}
