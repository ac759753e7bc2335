// The server fetches what an assistant asks for, and an assistant asks for what a page told it to: every way to make a
// fetcher talk to a machine that was not meant has been found by somebody (CVE-2025-65512, CVE-2026-49857).
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

import { afterAll, beforeAll } from 'vitest';

import { ToolError } from '../../src/core/errors.ts';
import { type Site, openSite } from '../support/fetch-servers.ts';
import { fetchTool } from '../support/fetch-tool.ts';
import { call, container, docker } from '../support/stack.ts';
import { callsBegun } from './lib/calls-begun.ts';
import { prove, whole } from './row.ts';
import {
  FOLDED,
  FORBIDDEN_V4,
  FORBIDDEN_V6,
  NEVER,
  TRICKS,
  V4_SPELLINGS,
  V6_SPELLINGS,
  WELCOME,
} from './vectors/urls.ts';

const REFUSED = ['domain_not_allowed', 'invalid_input', 'address_not_allowed'];
const ALLOWED = 'good.test';

/** On every address of this machine, those of loopback included, so that a forbidden URL would arrive. */
let site: Site;
let sockets = 0;
const count = () => {
  sockets += 1;
};

beforeAll(async () => {
  site = await openSite((_, response) => response.end('reached'), { host: '::' });
  subscribe('net.client.socket', count);
});
afterAll(async () => {
  unsubscribe('net.client.socket', count);
  await site.close();
});

interface Try {
  url: string;
  arrives: boolean;
}

const filled = (trick: string, port: number, good = ALLOWED, host = '127.0.0.1') =>
  trick.replaceAll('GOOD', good).replaceAll('HOST', host).replaceAll('PORT', String(port));

/** Every form of every forbidden address as a host. */
const hosts = () => [
  ...FORBIDDEN_V4.flatMap((address) => Object.values(V4_SPELLINGS).map((spell) => spell(address))),
  ...FORBIDDEN_V6.flatMap((address) => Object.values(V6_SPELLINGS).map((spell) => spell(address))),
];

/** The error's code, or `refused` for those that a policy or the schema gives. */
const codeOf = (error: unknown) =>
  error instanceof ToolError && !REFUSED.includes(error.code) ? error.code : 'refused';

/** Tries URLs on a tool for which every name leads to `addresses`; tells which arrived, or did not, and should. */
async function tried(
  env: Record<string, string>,
  urls: readonly Try[],
  addresses: readonly string[] = ['127.0.0.1'],
): Promise<string[]> {
  const tool = fetchTool(env, { resolve: async () => addresses });
  const failures: string[] = [];
  for (const { url, arrives } of urls) {
    const before = [site.connections(), sockets];
    const outcome = await tool.call({ url, timeout_seconds: 5 }).then(({ body }) => body, codeOf);
    const about = `${JSON.stringify(env)} ${JSON.stringify(url)} by ${addresses.join(', ')}`;
    if (outcome !== (arrives ? 'reached' : 'refused')) failures.push(`${about}: ${outcome}`);
    // An allowed URL may travel on a connection that is open, so connections tell of refused ones only.
    if (!arrives && (site.connections() !== before[0] || sockets !== before[1])) {
      failures.push(`${about}: a connection was opened`);
    }
  }
  await tool.close();
  return failures;
}

prove('fetch_external', 'No spelling of a host that is not on the allowlist reaches it', async () => {
  const at = (host: string, arrives = false) => ({ url: `http://${host}:${site.port}/`, arrives });
  const tricks = (host: string) =>
    TRICKS.map((trick) => ({ url: filled(trick, site.port, ALLOWED, host), arrives: false }));
  const refused = [...hosts().map((host) => at(host)), ...tricks('127.0.0.1')];
  const welcome = (arrives: boolean) => WELCOME.map((url) => ({ url: filled(url, site.port), arrives }));
  const own = Object.entries(V4_SPELLINGS).map(([name, spell]) =>
    at(spell('127.0.0.1'), FOLDED.includes(name)),
  );
  const others = hosts().flatMap((host) => (own.some(({ url }) => url === at(host).url) ? [] : [at(host)]));
  const modes: [Record<string, string>, Try[]][] = [
    [{ PROXY_ALLOWED_DOMAINS: '' }, [...refused, ...welcome(false)]],
    [{ PROXY_ALLOWED_DOMAINS: ALLOWED }, [...refused, ...welcome(false)]],
    [
      { PROXY_ALLOWED_DOMAINS: ALLOWED, FETCH_ALLOW_PRIVATE_DOMAINS: `${ALLOWED},evil.test,sub.${ALLOWED}` },
      [...refused, ...welcome(true)],
    ],
    [{ PROXY_ALLOWED_DOMAINS: '127.0.0.1' }, [...own, ...others, ...tricks('127.0.0.2')]],
  ];
  const failures = [];
  for (const [env, urls] of modes) failures.push(...(await tried(env, urls)));
  const all = modes.flatMap(([, urls]) => urls);
  const arrived = all.filter(({ arrives }) => arrives).length;
  return {
    tries: all.length,
    failures,
    figures: `${refused.length} URLs, 4 settings; ${arrived} allowed arrived, 0 connections by the rest`,
  };
});

prove(
  'fetch_external',
  'An allowed name that leads to a forbidden address is refused before it is called',
  async () => {
    const url = `http://${ALLOWED}:${site.port}/`;
    const wrapped = Object.values(V4_SPELLINGS).flatMap((spell) => {
      const host = spell('127.0.0.1');
      return host.startsWith('[') ? [host.slice(1, -1)] : [];
    });
    const forbidden = [...FORBIDDEN_V4, ...FORBIDDEN_V6, ...wrapped, ...NEVER];
    const failures: string[] = [];
    let attempts = 0;
    const refuse = async (env: Record<string, string>, addresses: string[]) => {
      attempts += 1;
      failures.push(...(await tried(env, [{ url, arrives: false }], addresses)));
    };
    const allowed = { PROXY_ALLOWED_DOMAINS: ALLOWED };
    const trusted = { ...allowed, FETCH_ALLOW_PRIVATE_DOMAINS: ALLOWED };
    for (const address of forbidden) {
      await refuse(allowed, [address]);
      // One good address must not vouch for the other, whichever comes first.
      await refuse(allowed, ['93.184.216.34', address]);
      await refuse(allowed, [address, '93.184.216.34']);
    }
    for (const address of NEVER) {
      await refuse(trusted, [address]);
      await refuse(trusted, ['127.0.0.1', address]);
    }
    failures.push(...(await tried(trusted, [{ url, arrives: true }])));
    return { tries: attempts + 1, failures };
  },
);

prove('fetch_external', 'The composed server refuses each of them before it begins', async () => {
  const address = async (service: string) =>
    (
      await docker(
        'inspect',
        '--format',
        '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}',
        container(service),
      )
    )
      .trim()
      .split(' ');
  const own = (
    await Promise.all(['server', 'chromium', 'demo-site', 'demo-apis', 'web-1'].map(address))
  ).flat();
  const spelled = own.flatMap((each) =>
    Object.values(V4_SPELLINGS).map((spell) => `http://${spell(each)}:3000/`),
  );
  const tricks = TRICKS.map((trick) => filled(trick, 80, 'demo-site', own[0]));
  const all = [...spelled, ...tricks];
  const urls = whole ? all : all.filter((_, index) => index % 10 === 0);
  const begun = async () => (await callsBegun()).get('fetch_external') ?? 0;
  const before = await begun();
  const failures: string[] = [];
  for (const url of urls) {
    const { isError, structuredContent } = await call('fetch_external', { url, timeout_seconds: 5 });
    const code = structuredContent.error?.code ?? 'no error';
    if (isError !== true || !REFUSED.includes(code)) failures.push(`${url}: ${code}`);
  }
  const { structuredContent } = await call('fetch_external', { url: 'http://demo-site/' });
  if (structuredContent['status'] !== 200) failures.push('the allowed site did not answer');
  const records = (await begun()) - before;
  if (records !== 1) failures.push(`${records - 1} of them were begun`);
  return {
    tries: urls.length,
    failures,
    figures: `through Caddy; ${records - 1} begun`,
  };
});
