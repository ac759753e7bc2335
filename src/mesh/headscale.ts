import * as z from 'zod';

import { flag, instant, text, texts } from './fields.ts';
import { requestJson } from './http.ts';
import { type ListedDevice, type Provider, type ProviderSettings, endpoint } from './provider.ts';

/** The fields that are passed on. `preAuthKey`, a credential in each node, is not among them. */
const nodeFields = z.object({
  givenName: text,
  name: text,
  ipAddresses: texts,
  online: flag,
  lastSeen: instant,
  expiry: instant,
  tags: texts,
  // Releases before 0.28 split the tags in two.
  forcedTags: texts,
  validTags: texts,
  user: z.object({ name: text }).nullable().catch(null),
});

/** `{"nodes":[…]}` of Headscale's API as devices. */
export const headscaleAnswer = z
  .object({ nodes: z.array(nodeFields).nullable() })
  .transform(({ nodes }) => (nodes ?? []).map(toListed));

function toListed(fields: z.output<typeof nodeFields>): ListedDevice {
  return {
    device: {
      name: fields.givenName ?? fields.name ?? fields.ipAddresses[0] ?? 'unnamed',
      // The API does not tell the network's base domain, the operating system or the client's version.
      dns_name: null,
      addresses: fields.ipAddresses,
      os: null,
      online: fields.online === true,
      last_seen: fields.lastSeen,
      tags: [...new Set([...fields.tags, ...fields.forcedTags, ...fields.validTags])],
      user: fields.user?.name ?? null,
      client_version: null,
      update_available: null,
      key_expires: fields.expiry,
    },
    aliases: fields.name === null ? [] : [fields.name],
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
