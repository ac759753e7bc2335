import { expect, test } from 'vitest';

import { headscaleAnswer } from './headscale.ts';

const full = {
  id: '1',
  machineKey: 'mkey:1',
  ipAddresses: ['100.64.0.1', 'fd7a:115c:a1e0::1'],
  name: 'Web One',
  givenName: 'web-1',
  user: { id: '1', name: 'alice', email: '' },
  lastSeen: '2026-11-01T08:00:00.5Z',
  expiry: '2027-01-01T00:00:00Z',
  createdAt: '2026-01-01T00:00:00Z',
  preAuthKey: { id: '1', key: 'hskey-auth-secret', reusable: true },
  online: true,
  tags: ['tag:web'],
};

const mapped = {
  name: 'web-1',
  dns_name: null,
  addresses: ['100.64.0.1', 'fd7a:115c:a1e0::1'],
  os: null,
  online: true,
  last_seen: '2026-11-01T08:00:00Z',
  tags: ['tag:web'],
  user: 'alice',
  client_version: null,
  update_available: null,
  key_expires: '2027-01-01T00:00:00Z',
};

test('a node with all fields', () => {
  expect(headscaleAnswer.parse({ nodes: [full] })).toStrictEqual([{ device: mapped, aliases: ['Web One'] }]);
});

test('the key that enrolled a node goes nowhere', () => {
  expect(JSON.stringify(headscaleAnswer.parse({ nodes: [full] }))).not.toContain('hskey-auth-secret');
});

test.each([
  ['a tagged node, which has no user', { user: null }, { user: null }],
  ['expiry null', { expiry: null }, { key_expires: null }],
  ['expiry in the year 1', { expiry: '0001-01-01T00:00:00Z' }, { key_expires: null }],
  ['last seen null', { lastSeen: null }, { last_seen: null }],
  ['online left out', { online: undefined }, { online: false }],
  ['no given name', { givenName: '' }, { name: 'Web One' }],
  [
    'tags as before 0.28',
    { tags: undefined, forcedTags: ['tag:a'], validTags: ['tag:b', 'tag:a'] },
    { tags: ['tag:a', 'tag:b'] },
  ],
  ['no addresses', { ipAddresses: [] }, { addresses: [] }],
])('%s', (_, change, expected) => {
  expect(headscaleAnswer.parse({ nodes: [{ ...full, ...change }] })[0]?.device).toStrictEqual({
    ...mapped,
    ...expected,
  });
});

test.each([[{}], [{ nodes: {} }], [[full]]])('not an answer: %j', (answer) => {
  expect(headscaleAnswer.safeParse(answer).success).toBe(false);
});
