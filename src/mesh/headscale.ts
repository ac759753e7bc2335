import * as z from 'zod';

import { type Fields, entry, instant, nameOf, text, texts } from './fields.ts';
import { requestJson } from './http.ts';
import { type ListedDevice, type Provider, type ProviderSettings, endpoint } from './provider.ts';

/** `{"nodes":[…]}` of Headscale's API as devices. */
export const headscaleAnswer = z
  .object({ nodes: z.array(entry).nullable() })
  .transform(({ nodes }) => (nodes ?? []).map(toListed));

/** `preAuthKey`, a credential in each node, is not among the fields that are passed on. */
function toListed(fields: Fields): ListedDevice {
  const name = text(fields['name']);
  const addresses = texts(fields['ipAddresses']);
  // Releases before 0.28 split the tags in two.
  const tags = ['tags', 'forcedTags', 'validTags'].flatMap((kind) => texts(fields[kind]));
  return {
    device: {
      name: text(fields['givenName']) ?? name ?? addresses[0] ?? 'unnamed',
      // The API does not tell the network's base domain, the operating system or the client's version.
      dns_name: null,
      addresses,
      os: null,
      online: fields['online'] === true,
      last_seen: instant(fields['lastSeen']),
      tags: [...new Set(tags)],
      user: nameOf(fields['user']),
      client_version: null,
      update_available: null,
      key_expires: instant(fields['expiry']),
    },
    aliases: name === null ? [] : [name],
  };
}

/** Headscale's API; its keys have no scopes. */
export function createHeadscale(settings: ProviderSettings): Provider {
  const key =
    'Set MESH_API_KEY to a valid key made by "headscale apikeys create"; they expire after 90 days by default.';
  const request = {
    url: endpoint(settings, '/api/v1/node'),
    authorization: `Bearer ${settings.apiKey}`,
    hints: {
      unauthorized: key,
      forbidden: key,
      notFound: 'Check MESH_API_URL: it is the server_url of Headscale, without a path of the API.',
    },
  };
  return { list: (call) => requestJson(request, headscaleAnswer, call) };
}
