import * as z from 'zod';

import {
  type Fields,
  entry,
  firstLabel,
  flag,
  instant,
  nameOf,
  text,
  texts,
  withoutTrailingDot,
} from './fields.ts';
import { requestJson } from './http.ts';
import { type ListedDevice, type Provider, type ProviderSettings, endpoint } from './provider.ts';

/** The bare list of NetBird's API as devices. */
export const netbirdAnswer = z.array(entry).transform((peers) => peers.map(toListed));

function toListed(fields: Fields): ListedDevice {
  const label = text(fields['dns_label']);
  const dnsName = label && withoutTrailingDot(label);
  const addresses = texts([fields['ip'], fields['ipv6']]);
  const names = texts([fields['name'], fields['hostname']]);
  const groups: readonly unknown[] = Array.isArray(fields['groups']) ? fields['groups'] : [];
  const sshEnabled = flag(fields['ssh_enabled']);
  return {
    device: {
      name: firstLabel(dnsName) ?? names[0] ?? addresses[0] ?? 'unnamed',
      dns_name: dnsName,
      addresses,
      os: text(fields['os']),
      online: fields['connected'] === true,
      last_seen: instant(fields['last_seen']),
      // Groups are to NetBird's policies what tags are to Tailscale's.
      tags: texts(groups.map(nameOf)),
      user: text(fields['user_id']),
      ...(sshEnabled !== null && { ssh_enabled: sshEnabled }),
      client_version: text(fields['version']),
      update_available: null,
      key_expires: null,
    },
    aliases: names,
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
