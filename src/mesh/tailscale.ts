import * as z from 'zod';

import { ToolError } from '../core/errors.ts';
import { type Fields, entry, firstLabel, flag, instant, text, texts, withoutTrailingDot } from './fields.ts';
import { type ApiCall, requestJson } from './http.ts';
import { type ListedDevice, type Provider, type ProviderSettings, endpoint } from './provider.ts';
import { createOauthTokens, isOauthSecret } from './tailscale-oauth.ts';

/** `{"devices":[…]}` of Tailscale's API as devices. */
export const tailscaleAnswer = z
  .object({ devices: z.array(entry).nullable() })
  .transform(({ devices }) => (devices ?? []).map(toListed));

function toListed(fields: Fields): ListedDevice {
  const name = text(fields['name']);
  const dnsName = name && withoutTrailingDot(name);
  const hostname = text(fields['hostname']);
  const addresses = texts(fields['addresses']);
  const sshEnabled = flag(fields['sshEnabled']);
  return {
    device: {
      name: firstLabel(dnsName) ?? hostname ?? addresses[0] ?? 'unnamed',
      dns_name: dnsName,
      addresses,
      os: text(fields['os']),
      // Not from lastSeen: it is left out while a device is connected, and null on devices shared in.
      online: fields['connectedToControl'] === true,
      last_seen: instant(fields['lastSeen']),
      tags: texts(fields['tags']),
      user: text(fields['user']),
      ...(sshEnabled !== null && { ssh_enabled: sshEnabled }),
      client_version: text(fields['clientVersion']),
      update_available: flag(fields['updateAvailable']),
      // A date stays in `expires` after the expiry was switched off.
      key_expires: fields['keyExpiryDisabled'] === true ? null : instant(fields['expires']),
    },
    aliases: hostname === null ? [] : [hostname],
  };
}

/** Tailscale's API, with an API access token or an OAuth client's secret as the key. */
export function createTailscale(settings: ProviderSettings, now: () => number): Provider {
  const { apiKey, network } = settings;
  const url = endpoint(settings, `/api/v2/tailnet/${encodeURIComponent(network)}/devices?fields=all`);
  const hints = {
    unauthorized: wrongKey(apiKey),
    forbidden:
      'MESH_API_KEY lacks the scope "Devices (read)" (devices:core:read), or belongs to another network.',
    notFound: `Check MESH_NETWORK, which is "${network}"; "-" is the API key’s own network.`,
  };
  const devices = (authorization: string, call: ApiCall) =>
    requestJson({ url, authorization, hints }, tailscaleAnswer, call);

  if (!isOauthSecret(apiKey)) {
    const authorization = `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`;
    return { list: (call) => devices(authorization, call) };
  }

  const tokens = createOauthTokens(settings, now);
  return {
    async list(call) {
      try {
        return await devices(`Bearer ${await tokens.token(call)}`, call);
      } catch (error) {
        // A token revoked before its hour is replaced by the next call.
        if (error instanceof ToolError && error.code === 'auth_failed') tokens.forget();
        throw error;
      }
    },
  };
}

function wrongKey(key: string): string {
  const wanted = 'an API access token (tskey-api-…) or an OAuth client secret (tskey-client-…)';
  return key.startsWith('tskey-auth-')
    ? `MESH_API_KEY holds an auth key (tskey-auth-…), which enrols devices and cannot read them: set ${wanted}.`
    : `Set MESH_API_KEY to ${wanted} that is still valid; access tokens expire after 90 days at most.`;
}
