import { expect, test } from 'vitest';

import { netbirdAnswer } from './netbird.ts';

const full = {
  id: 'chacbco6lnnbn6cg5s90',
  name: 'stage host',
  hostname: 'stage-host-1',
  ip: '100.64.0.15',
  ipv6: 'fd00:4e42::15',
  dns_label: 'stage-host.netbird.cloud',
  connected: true,
  last_seen: '2026-11-20T10:05:26.420578Z',
  os: 'Debian GNU/Linux 13',
  version: '0.60.2',
  user_id: 'google-oauth2|1',
  groups: [
    { id: 'g1', name: 'All', peers_count: 2 },
    { id: 'g2', name: 'servers' },
  ],
  ssh_enabled: true,
  login_expired: false,
};

const mapped = {
  name: 'stage-host',
  dns_name: 'stage-host.netbird.cloud',
  addresses: ['100.64.0.15', 'fd00:4e42::15'],
  os: 'Debian GNU/Linux 13',
  online: true,
  last_seen: '2026-11-20T10:05:26Z',
  tags: ['All', 'servers'],
  user: 'google-oauth2|1',
  ssh_enabled: true,
  client_version: '0.60.2',
  update_available: null,
  key_expires: null,
};

test('a peer with all fields', () => {
  expect(netbirdAnswer.parse([full])).toStrictEqual([
    { device: mapped, aliases: ['stage host', 'stage-host-1'] },
  ]);
});

test.each([
  ['not connected', { connected: false }, { online: false }],
  ['no IPv6 address', { ipv6: undefined }, { addresses: ['100.64.0.15'] }],
  ['no DNS label', { dns_label: '' }, { name: 'stage host', dns_name: null }],
  ['groups null', { groups: null }, { tags: [] }],
  ['a group without a name', { groups: [{ id: 'g1' }, null, { name: 'servers' }] }, { tags: ['servers'] }],
  ['no user', { user_id: '' }, { user: null }],
  ['last seen in the year 1', { last_seen: '0001-01-01T00:00:00Z' }, { last_seen: null }],
])('%s', (_, change, expected) => {
  expect(netbirdAnswer.parse([{ ...full, ...change }])[0]?.device).toStrictEqual({ ...mapped, ...expected });
});

test.each([[{ peers: [] }], [null], [['stage-host']]])('not an answer: %j', (answer) => {
  expect(netbirdAnswer.safeParse(answer).success).toBe(false);
});
