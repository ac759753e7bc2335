import { expect, test } from 'vitest';

import { tailscaleAnswer } from './tailscale.ts';

const full = {
  addresses: ['100.101.102.103', 'fd7a:115c:a1e0::1'],
  authorized: true,
  clientVersion: '1.90.6-t1234',
  connectedToControl: true,
  created: '2026-01-15T09:32:00Z',
  expires: '2026-07-15T09:32:00Z',
  hostname: 'Workstation',
  id: '12345',
  keyExpiryDisabled: false,
  name: 'workstation.tail1234.ts.net',
  os: 'linux',
  sshEnabled: true,
  tags: ['tag:server', 'tag:prod'],
  updateAvailable: false,
  user: 'user@example.com',
};

const mapped = {
  name: 'workstation',
  dns_name: 'workstation.tail1234.ts.net',
  addresses: ['100.101.102.103', 'fd7a:115c:a1e0::1'],
  os: 'linux',
  online: true,
  last_seen: null,
  tags: ['tag:server', 'tag:prod'],
  user: 'user@example.com',
  ssh_enabled: true,
  client_version: '1.90.6-t1234',
  update_available: false,
  key_expires: '2026-07-15T09:32:00Z',
};

const only = (device: object) => tailscaleAnswer.parse({ devices: [device] })[0];

test('a device with all fields', () => {
  expect(only(full)).toStrictEqual({ device: mapped, aliases: ['Workstation'] });
});

test.each([
  [
    'not connected',
    { connectedToControl: false, lastSeen: '2026-11-01T08:00:00Z' },
    { online: false, last_seen: '2026-11-01T08:00:00Z' },
  ],
  [
    'last seen in another zone, with a fraction',
    { lastSeen: '2026-11-01T10:00:00.123456789+02:00' },
    { last_seen: '2026-11-01T08:00:00Z' },
  ],
  ['last seen null', { lastSeen: null }, { last_seen: null }],
  [
    'recently seen, but nothing said of the connection',
    { connectedToControl: undefined, lastSeen: '2026-11-20T12:00:00Z' },
    { online: false, last_seen: '2026-11-20T12:00:00Z' },
  ],
  ['connection null', { connectedToControl: null }, { online: false }],
  ['connection as a text', { connectedToControl: 'true' }, { online: false }],
  ['expiry null', { expires: null }, { key_expires: null }],
  ['expiry in the year 1', { expires: '0001-01-01T00:00:00Z' }, { key_expires: null }],
  ['expiry switched off, its date still there', { keyExpiryDisabled: true }, { key_expires: null }],
  ['expiry empty', { expires: '' }, { key_expires: null }],
  ['expiry not a date', { expires: 'soon' }, { key_expires: null }],
  ['created empty', { created: '' }, {}],
  ['no tags', { tags: undefined }, { tags: [] }],
  ['tags null', { tags: null }, { tags: [] }],
  ['a tag of another type', { tags: ['tag:a', 7, ''] }, { tags: ['tag:a'] }],
  ['addresses null', { addresses: null }, { addresses: [] }],
  ['version empty', { clientVersion: '' }, { client_version: null }],
  ['update unknown', { updateAvailable: undefined }, { update_available: null }],
  ['user empty', { user: '' }, { user: null }],
  ['DNS name with a trailing dot', { name: 'workstation.tail1234.ts.net.' }, {}],
  ['an unknown field', { quantumLink: { on: true } }, {}],
])('%s', (_, change, expected) => {
  expect(only({ ...full, ...change })?.device).toStrictEqual({ ...mapped, ...expected });
});

test.each([
  ['no DNS name', { hostname: 'nas', addresses: ['100.64.0.9'] }, 'nas', ['nas']],
  ['no name at all', { addresses: ['100.64.0.9'] }, '100.64.0.9', []],
  ['nothing', {}, 'unnamed', []],
])('the name of a device with %s', (_, device, name, aliases) => {
  expect(only(device)).toStrictEqual({
    device: {
      name,
      dns_name: null,
      addresses: 'addresses' in device ? ['100.64.0.9'] : [],
      os: null,
      online: false,
      last_seen: null,
      tags: [],
      user: null,
      client_version: null,
      update_available: null,
      key_expires: null,
    },
    aliases,
  });
});

test('an empty network', () => {
  expect(tailscaleAnswer.parse({ devices: [] })).toStrictEqual([]);
  expect(tailscaleAnswer.parse({ devices: null })).toStrictEqual([]);
});

test.each([[{}], [{ devices: 'none' }], [{ devices: ['web-1'] }], [[]], [null]])(
  'not an answer: %j',
  (answer) => {
    expect(tailscaleAnswer.safeParse(answer).success).toBe(false);
  },
);
