import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll } from 'vitest';

import type { Device, Mesh } from '../../src/mesh/device.ts';
import { type Rig, createRig } from '../container/ssh/rig.ts';
import { prove, tries } from './row.ts';
import { type Stranger, stranger } from './ssh-wire.ts';
import { sshKeyPair } from '../support/ssh-keys.ts';

const key = (type: 'ed25519' | 'rsa' | 'ecdsa', bits?: number) =>
  sshKeyPair(type, bits === undefined ? {} : { bits });
type Key = ReturnType<typeof key>;

/** Two of each type: a device's own, and somebody else's. */
const KEYS = {
  ed25519: [key('ed25519'), key('ed25519')],
  'ecdsa 256': [key('ecdsa', 256), key('ecdsa', 256)],
  'ecdsa 384': [key('ecdsa', 384), key('ecdsa', 384)],
  'ecdsa 521': [key('ecdsa', 521), key('ecdsa', 521)],
  rsa: [key('rsa', 2048), key('rsa', 2048)],
} satisfies Record<string, [Key, Key]>;
const TYPES = Object.keys(KEYS) as (keyof typeof KEYS)[];

const state = mkdtempSync(join(tmpdir(), 'host-keys-'));
const knownHostsPath = join(state, 'known_hosts');
afterAll(() => rmSync(state, { recursive: true }));

const SECRET = 'echo not-for-strangers';
/** The device's two names in the file, as the port demands them. */
const nameOf = (port: number) => `[web-1.tail.ts.net]:${port}`;
const addressOf = (port: number) => `[127.0.0.1]:${port}`;
const publicOf = (pair: Key) => pair.public.trim().split(' ').slice(0, 2).join(' ');

function hashed(name: string): string {
  const salt = Buffer.from('01234567890123456789');
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`;
}

/** What is wrong with how a call treated a stranger: it must be refused with nothing said. */
async function refused(
  what: string,
  rig: Rig,
  others: readonly Stranger[],
  device = 'web-1',
): Promise<string[]> {
  const before = readFileSync(knownHostsPath, 'utf8');
  const { isError, error } = await rig.exec({ device, command: SECRET, stdin: SECRET });
  const logins = others.reduce((sum, { seen }) => sum + seen.logins, 0);
  const commands = others.flatMap(({ seen }) => seen.commands);
  return [
    ...(isError && error?.code === 'host_key_changed' ? [] : [`${what}: ${error?.message ?? 'it ran'}`]),
    ...(logins === 0 ? [] : [`${what}: ${logins} attempts to log in`]),
    ...(commands.length === 0 ? [] : [`${what}: it was sent ${commands.join(', ')}`]),
    ...(others.some(({ seen }) => seen.connections > 0) ? [] : [`${what}: nobody was asked`]),
    ...(readFileSync(knownHostsPath, 'utf8') === before ? [] : [`${what}: the file was changed`]),
  ];
}

interface Way {
  what: string;
  /** Lines of the known-hosts file for a device on that port. */
  known: (port: number) => string;
  shows: readonly Key[];
}

function ways(): Way[] {
  const all: Way[] = [];
  for (const type of TYPES) {
    const [own, foreign] = KEYS[type];
    const line = (hosts: string) => `${hosts} ${publicOf(own)}\n`;
    all.push(
      {
        what: `${type}: another key`,
        known: (port) => line(`${nameOf(port)},${addressOf(port)}`),
        shows: [foreign],
      },
      { what: `${type}: known by name only`, known: (port) => line(nameOf(port)), shows: [foreign] },
      { what: `${type}: known by address only`, known: (port) => line(addressOf(port)), shows: [foreign] },
      { what: `${type}: a hashed name`, known: (port) => line(hashed(nameOf(port))), shows: [foreign] },
      {
        what: `${type}: a name in capitals`,
        known: (port) => line(nameOf(port).toUpperCase()),
        shows: [foreign],
      },
      {
        what: `${type}: its own key, revoked`,
        known: (port) => `@revoked ${line(nameOf(port))}`,
        shows: [own],
      },
      {
        what: `${type}: its name with one key, its address with another`,
        known: (port) => `${line(nameOf(port))}${addressOf(port)} ${publicOf(foreign)}\n`,
        shows: [own],
      },
    );
    for (const other of TYPES.filter((each) => each !== type)) {
      const known = (port: number) => line(`${nameOf(port)},${addressOf(port)}`);
      all.push({ what: `${type} on file, ${other} shown`, known, shows: [KEYS[other][0]] });
      // The one on file is asked for first; who also has another must not get away with it.
      all.push({ what: `${type} changed, ${other} as well`, known, shows: [KEYS[other][0], foreign] });
    }
  }
  return all;
}

prove('ssh_exec', 'A device with another host key gets no login and not a byte of the command', async () => {
  const all = ways();
  const chosen = all.filter((_way, at) => at % Math.ceil(all.length / tries(all.length, 15)) === 0);
  const failures: string[] = [];
  for (const { what, known, shows } of chosen) {
    const other = await stranger(shows.map((pair) => pair.private));
    writeFileSync(knownHostsPath, known(other.port));
    const rig = createRig('127.0.0.1', other.port, { knownHostsPath });
    failures.push(...(await refused(what, rig, [other])));
    await Promise.all([rig.close(), other.close()]);
  }
  return { tries: chosen.length, failures, figures: '0 logins tried, 0 commands sent' };
});

prove(
  'ssh_exec',
  'A host key that changes between two calls ends the second, also after the connection broke',
  async () => {
    const rounds = tries(50, 5);
    const failures: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const [own, foreign] = KEYS[TYPES[round % TYPES.length] ?? 'ed25519'];
      writeFileSync(knownHostsPath, '');
      const device = await stranger([own.private]);
      const rig = createRig('127.0.0.1', device.port, { knownHostsPath });
      const first = await rig.exec({ command: 'true' });
      if (first.isError) failures.push(`round ${round}: the device itself is refused`);
      await device.close();
      const other = await stranger([foreign.private], '127.0.0.1', device.port);
      failures.push(...(await refused(`round ${round}`, rig, [other])));
      await Promise.all([rig.close(), other.close()]);
    }
    return { tries: rounds, failures };
  },
);

/** A mesh whose devices have the addresses they are given at the moment. */
function movingMesh(addresses: Map<string, string>): Mesh {
  const device = (name: string): Device => ({
    name,
    dns_name: `${name}.tail.ts.net`,
    addresses: [addresses.get(name) ?? ''],
    os: 'linux',
    online: true,
    last_seen: null,
    tags: [],
    user: null,
    client_version: null,
    update_available: null,
    key_expires: null,
  });
  return {
    network: 'test',
    devices: async () => [...addresses.keys()].map(device),
    device: async (name) => device(name),
  };
}

prove(
  'ssh_exec',
  'A command for one device never reaches another that took its address or its name',
  async () => {
    const rounds = tries(25, 2);
    const failures: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      writeFileSync(knownHostsPath, '');
      const web = await stranger([KEYS.ed25519[0].private], '127.0.0.2');
      const db = await stranger([KEYS.ed25519[1].private], '127.0.0.3', web.port);
      const addresses = new Map([
        ['web-1', '127.0.0.2'],
        ['db-1', '127.0.0.3'],
      ]);
      const settings = { knownHostsPath };
      const before = createRig('', web.port, settings, undefined, movingMesh(addresses));
      for (const device of ['web-1', 'db-1']) await before.exec({ device, command: 'true' });
      await before.close();
      for (const { seen } of [web, db]) Object.assign(seen, { logins: 0, commands: [] });

      const after = createRig('', web.port, settings, undefined, movingMesh(addresses));
      // Swapped, then a new name at an address that is known, with the key that belongs there and with another.
      addresses.set('web-1', '127.0.0.3').set('db-1', '127.0.0.2');
      failures.push(...(await refused(`web-1 where db-1 was, ${round}`, after, [db], 'web-1')));
      failures.push(...(await refused(`db-1 where web-1 was, ${round}`, after, [web], 'db-1')));
      await web.close();
      const impostor = await stranger([KEYS.rsa[0].private], '127.0.0.2', web.port);
      addresses.set('new-1', '127.0.0.2');
      failures.push(
        ...(await refused(`a new device at web-1's address, ${round}`, after, [impostor], 'new-1')),
      );
      addresses.set('web-1', '127.0.0.4');
      const elsewhere = await stranger([KEYS.rsa[1].private], '127.0.0.4', web.port);
      failures.push(
        ...(await refused(`web-1 at an address nobody had, ${round}`, after, [elsewhere], 'web-1')),
      );
      await Promise.all([after.close(), db.close(), impostor.close(), elsewhere.close()]);
    }
    return { tries: rounds * 4, failures };
  },
);
