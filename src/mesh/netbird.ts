import * as z from 'zod';

import { firstLabel, flag, instant, text, texts, withoutTrailingDot } from './fields.ts';
import { requestJson } from './http.ts';
import { type ListedDevice, type Provider, type ProviderSettings, endpoint } from './provider.ts';

const peerFields = z.object({
  name: text,
  hostname: text,
  dns_label: text,
  ip: text,
  ipv6: text,
  connected: flag,
  last_seen: instant,
  os: text,
  version: text,
  user_id: text,
  ssh_enabled: flag,
  groups: z
    .array(z.object({ name: text }).catch({ name: null }))
    .catch([])
    .transform((groups) => groups.map(({ name }) => name)),
});

/** The bare list of NetBird's API as devices. */
export const netbirdAnswer = z.array(peerFields).transform((peers) => peers.map(toListed));

function toListed(fields: z.output<typeof peerFields>): ListedDevice {
  const dnsName = fields.dns_label && withoutTrailingDot(fields.dns_label);
  const addresses = texts.parse([fields.ip, fields.ipv6]);
  return {
    device: {
      name: firstLabel(dnsName) ?? fields.name ?? fields.hostname ?? addresses[0] ?? 'unnamed',
      dns_name: dnsName,
      addresses,
      os: fields.os,
      online: fields.connected === true,
      last_seen: fields.last_seen,
      // Groups are to NetBird's policies what tags are to Tailscale's.
      tags: texts.parse(fields.groups),
      user: fields.user_id,
      ...(fields.ssh_enabled !== null && { ssh_enabled: fields.ssh_enabled }),
      client_version: fields.version,
      update_available: null,
      key_expires: null,
    },
    aliases: texts.parse([fields.name, fields.hostname]),
  };
}

/** NetBird's API, with a personal access token or a service user's as the key. */
export function createNetbird(settings: ProviderSettings): Provider {
  const request = {
    url: endpoint(settings, '/api/peers'),
    authorization: `Token ${settings.apiKey}`,
    hints: {
      unauthorized: 'Set MESH_API_KEY to a NetBird access token (nbp_…) that is still valid.',
      forbidden: 'The user of the access token in MESH_API_KEY may not read the peers ("Devices (read)").',
      notFound: 'Check MESH_API_URL: it is the address of the management API, without "/api".',
    },
  };
  return { list: (call) => requestJson(request, netbirdAnswer, call) };
}
