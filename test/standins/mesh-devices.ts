import { lookup } from 'node:dns/promises';

/** A device of the stand-in's network, as given in DEMO_DEVICES. */
export interface StandinDevice {
  name: string;
  online: boolean;
  /** A host whose address, asked of DNS at each request, is the device's; a container's name, for example. */
  host?: string;
  /** The device's addresses where no `host` is given; else made up from its place in the list. */
  addresses?: string[];
  /** The host's own name; the device's name otherwise. */
  hostname?: string;
  os?: string;
  user?: string;
  tags?: string[];
  ssh?: boolean;
}

/** Said in every name that the stand-in makes up, so that nobody takes it for a real network. */
const DEMO_DOMAIN = 'demo-mesh.ts.net';

const CREATED = '2026-01-15T09:30:00Z';
const LAST_SEEN = '2026-11-01T08:00:00Z';
const EXPIRES = '2027-07-15T09:30:00Z';

async function addressesOf(device: StandinDevice, index: number): Promise<string[]> {
  if (device.host !== undefined) {
    // A container that is not up has no address; the list is answered all the same.
    const found = await lookup(device.host, { all: true }).catch(() => []);
    return found.map(({ address }) => address);
  }
  const place = index + 1;
  return (
    device.addresses ?? [`100.101.${place >> 8}.${place & 0xff}`, `fd7a:115c:a1e0::${place.toString(16)}`]
  );
}

/** An entry of Tailscale's `devices`; `all` adds what it tells only when asked for all fields. */
export async function tailscaleDevice(device: StandinDevice, index: number, all: boolean): Promise<object> {
  const id = 10_000 + index;
  return {
    addresses: await addressesOf(device, index),
    id: String(id),
    nodeId: `nDEMO${id}CNTRL`,
    user: device.user ?? 'demo@example.com',
    name: `${device.name}.${DEMO_DOMAIN}`,
    hostname: device.hostname ?? device.name,
    clientVersion: '1.90.6-tdemo',
    updateAvailable: false,
    os: device.os ?? 'linux',
    created: CREATED,
    connectedToControl: device.online,
    // Left out while a device is connected.
    ...(!device.online && { lastSeen: LAST_SEEN }),
    keyExpiryDisabled: false,
    expires: EXPIRES,
    authorized: true,
    isExternal: false,
    isEphemeral: false,
    machineKey: `mkey:demo${id}`,
    nodeKey: `nodekey:demo${id}`,
    blocksIncomingConnections: false,
    tailnetLockKey: '',
    tailnetLockError: '',
    ...(device.tags && { tags: device.tags }),
    ...(all && {
      sshEnabled: device.ssh ?? device.online,
      advertisedRoutes: [],
      enabledRoutes: [],
      clientConnectivity: device.online ? { endpoints: [], mappingVariesByDestIP: false, latency: {} } : null,
    }),
  };
}

/** An entry of Headscale's `nodes`, with the credential that it carries. */
export async function headscaleNode(device: StandinDevice, index: number): Promise<object> {
  const id = String(index + 1);
  const user = { id: '1', name: device.user ?? 'demo', displayName: '', email: '', createdAt: CREATED };
  return {
    id,
    machineKey: `mkey:demo${id}`,
    nodeKey: `nodekey:demo${id}`,
    discoKey: `discokey:demo${id}`,
    ipAddresses: await addressesOf(device, index),
    name: device.hostname ?? device.name,
    givenName: device.name,
    user,
    lastSeen: LAST_SEEN,
    expiry: '0001-01-01T00:00:00Z',
    createdAt: CREATED,
    registerMethod: 'REGISTER_METHOD_AUTH_KEY',
    preAuthKey: {
      id,
      key: `hskey-auth-demo-${id}`,
      user,
      reusable: true,
      ephemeral: false,
      used: true,
      aclTags: [],
    },
    online: device.online,
    approvedRoutes: [],
    availableRoutes: [],
    subnetRoutes: [],
    tags: device.tags ?? [],
  };
}

/** An entry of NetBird's list of peers. */
export async function netbirdPeer(device: StandinDevice, index: number): Promise<object> {
  const [ip = '', ipv6] = await addressesOf(device, index);
  return {
    id: `demo${index}`,
    name: device.name,
    hostname: device.hostname ?? device.name,
    ip,
    ...(ipv6 !== undefined && { ipv6 }),
    dns_label: `${device.name}.demo-mesh.netbird.cloud`,
    connected: device.online,
    last_seen: LAST_SEEN,
    os: device.os ?? 'Debian GNU/Linux 13',
    kernel_version: '6.12.0',
    version: '0.60.2',
    ui_version: '',
    user_id: device.user ?? 'demo-user',
    ssh_enabled: device.ssh ?? false,
    login_expired: false,
    login_expiration_enabled: false,
    last_login: CREATED,
    approval_required: false,
    accessible_peers_count: 2,
    groups: (device.tags ?? ['All']).map((name, at) => ({ id: `group${at}`, name, peers_count: 1 })),
  };
}
