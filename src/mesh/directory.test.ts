import { expect, test } from 'vitest';

import type { Device } from './device.ts';
import { createDirectory } from './directory.ts';
import type { ListedDevice } from './provider.ts';

function listed(
  dnsName: string | null,
  addresses: string[],
  alias: string,
  name = dnsName?.split('.')[0],
): ListedDevice {
  return {
    device: {
      name: name ?? alias,
      dns_name: dnsName,
      addresses,
      os: 'linux',
      online: true,
      last_seen: null,
      tags: [],
      user: null,
      client_version: null,
      update_available: null,
      key_expires: null,
    },
    aliases: [alias],
  };
}

const directory = createDirectory([
  listed('web-1.tail1.ts.net', ['100.64.0.1', 'fd7a:115c:a1e0::1'], 'web-1'),
  listed('web-1-1.tail1.ts.net', ['100.64.0.2', 'fd7a:115c:a1e0:0:0:0:0:A2'], 'web-1'),
  listed('10.tail1.ts.net', ['100.64.0.3'], 'Printer'),
  listed('nas.tail1.ts.net', ['100.64.0.4'], 'storage'),
  listed('nas.friends.ts.net', ['100.64.0.5'], 'storage'),
  listed(null, ['100.64.0.6'], 'phone'),
]);

test.each([
  ['web-1', '100.64.0.1'],
  ['WEB-1', '100.64.0.1'],
  [' web-1 ', '100.64.0.1'],
  ['web-1-1', '100.64.0.2'],
  ['web-1.tail1.ts.net', '100.64.0.1'],
  ['Web-1.Tail1.ts.net.', '100.64.0.1'],
  ['100.64.0.2', '100.64.0.2'],
  ['::ffff:100.64.0.2', '100.64.0.2'],
  ['fd7a:115c:a1e0::1', '100.64.0.1'],
  ['FD7A:115C:A1E0:0000:0000:0000:0000:0001', '100.64.0.1'],
  ['[fd7a:115c:a1e0::1]', '100.64.0.1'],
  ['fd7a:115c:a1e0::a2', '100.64.0.2'],
  ['10', '100.64.0.3'],
  ['printer', '100.64.0.3'],
  ['nas.friends.ts.net', '100.64.0.5'],
  ['phone', '100.64.0.6'],
])('%j is a device', (name, address) => {
  expect(directory.find(name).addresses[0]).toBe(address);
});

test.each([
  ['nas', 'nas.tail1.ts.net, nas.friends.ts.net'],
  ['storage', 'nas.tail1.ts.net, nas.friends.ts.net'],
])('%j is the name of two devices', (name, candidates) => {
  expect(() => directory.find(name)).toThrow(
    expect.objectContaining({
      code: 'invalid_input',
      message: `"${name}" is the name of 2 devices.`,
      details: { hint: `Name one of them in full: ${candidates}.` },
    }),
  );
});

test('of many devices with one name, ten are named', () => {
  const many = createDirectory(
    Array.from({ length: 12 }, (_, at) => listed(`cam.net${at}.ts.net`, [], 'cam')),
  );
  expect(() => many.find('cam')).toThrow(
    expect.objectContaining({
      details: {
        hint: expect.stringMatching(/: cam\.net0\.ts\.net, .*cam\.net9\.ts\.net and 2 more\.$/) as string,
      },
    }),
  );
});

test.each([
  [
    'web-2',
    'No device of the mesh network is called "web-2".',
    'Did you mean web-1? mesh_status lists the devices.',
  ],
  ['zebra', 'No device of the mesh network is called "zebra".', 'mesh_status lists the devices.'],
  ['100.64.0.77', 'No device of the mesh network is called "100.64.0.77".', 'mesh_status lists the devices.'],
  [
    'web-1.other.net',
    'No device of the mesh network is called "web-1.other.net".',
    'Did you mean web-1? mesh_status lists the devices.',
  ],
])('%j is no device', (name, message, hint) => {
  expect(() => directory.find(name)).toThrow(
    expect.objectContaining({ code: 'device_not_found', message, details: { hint } }),
  );
});

test('a name of a megabyte is not repeated in full', () => {
  expect(() => directory.find('x'.repeat(1_000_000))).toThrow(
    expect.objectContaining({ message: `No device of the mesh network is called "${'x'.repeat(64)}…".` }),
  );
});

test('the DNS suffix is the one most devices share', () => {
  expect(directory.dnsSuffix).toBe('tail1.ts.net');
  expect(createDirectory([listed(null, [], 'phone')]).dnsSuffix).toBeNull();
  expect(createDirectory([]).dnsSuffix).toBeNull();
});

test('among 10,000 devices a name is found without looking at the others', () => {
  let looks = 0;
  const counted = (at: number): ListedDevice => {
    const { device, aliases } = listed(
      `node-${at}.tail1.ts.net`,
      [`100.70.${at >> 8}.${at & 255}`],
      `host-${at}`,
    );
    const proxy = new Proxy<Device>(device, {
      get: (target, key) => {
        looks += 1;
        return Reflect.get(target, key) as unknown;
      },
    });
    return { device: proxy, aliases };
  };
  const large = createDirectory(Array.from({ length: 10_000 }, (_, at) => counted(at)));
  // The first question for an address looks at all of them, once.
  large.find('100.70.0.1');
  looks = 0;
  const found = [
    large.find('node-9999'),
    large.find('node-5000.tail1.ts.net'),
    large.find('host-1234'),
    large.find('100.70.39.15'),
  ];
  expect(looks).toBe(0);
  expect(found.map(({ name }) => name)).toStrictEqual(['node-9999', 'node-5000', 'node-1234', 'node-9999']);
  expect(() => large.find('node-10000')).toThrow(expect.objectContaining({ code: 'device_not_found' }));
});
