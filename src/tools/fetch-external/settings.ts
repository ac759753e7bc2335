import * as z from 'zod';

import { setting, type SettingsOf } from '../../core/setting.ts';
import { isReservedHeader } from './reserved-headers.ts';

const envName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/);
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/)
  .refine((name) => !isReservedHeader(name));
const injection = z.union([
  envName,
  z.strictObject({
    env: envName,
    header: headerName.optional(),
    scheme: z
      .string()
      .regex(/^[A-Za-z0-9-]*$/)
      .optional(),
  }),
]);
const HOSTNAME = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])$/;

export const fetchSettings = {
  allowedDomains: setting.list({
    env: 'PROXY_ALLOWED_DOMAINS',
    yaml: 'fetch.allowed_domains',
    reloadable: true,
    default: [],
    pattern: HOSTNAME,
    expected: 'a comma-separated list of hostnames, without scheme, port or path',
    example: 'api.github.com,httpbin.org',
    meaning:
      'Hostnames fetch_external may call, on any port, each compared whole: a parent domain does not cover its subdomains.',
  }),
  tokenMap: setting.json<Record<string, z.output<typeof injection>>>({
    env: 'FETCH_EXTERNAL_TOKEN_MAP',
    default: {},
    schema: z.record(z.string().regex(HOSTNAME), injection),
    expected: 'a JSON object that maps a domain to the name of an environment variable',
    example: '{"api.github.com":"CODE_HOST_TOKEN"}',
    meaning:
      'Domains that get a token, over HTTPS only: the value names the variable that holds it (sent as "Authorization: Bearer"), or {"env","header","scheme"} for APIs that want another header.',
  }),
  allowPrivateDomains: setting.list({
    env: 'FETCH_ALLOW_PRIVATE_DOMAINS',
    yaml: 'fetch.allow_private_domains',
    reloadable: true,
    default: [],
    pattern: HOSTNAME,
    expected: 'a comma-separated list of hostnames',
    meaning:
      'Allowed domains that may resolve to private addresses; addresses of cloud metadata services stay refused.',
  }),
};

export type FetchSettings = SettingsOf<typeof fetchSettings>;
