// Fetchers have judged the first URL and followed the rest, and have passed on what was meant for the first host:
// undici's own fetch forwards x-api-key and private-token to wherever a redirect points.
import type { RequestListener } from 'node:http';

import { afterAll, beforeAll } from 'vitest';

import { ToolError } from '../../src/core/errors.ts';
import { createAuthority } from '../support/fetch-ca.ts';
import { type Site, openSite } from '../support/fetch-servers.ts';
import { type FetchTool, fetchTool } from '../support/fetch-tool.ts';
import { prove, whole } from './row.ts';
import { MATRICES, type Matrix } from './vectors/redirects.ts';

const TOKEN = 'tok-canary-0123456789abcdef';
const STATUSES = [301, 302, 303, 307, 308];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** What a caller sends that is meant for the first host, and for no other. */
const OWN = {
  Authorization: 'Bearer own-canary-1',
  Cookie: 'session=own-canary-2',
  'X-Api-Key': 'own-canary-3',
  'Private-Token': 'own-canary-4',
  'X-Auth-Token': 'own-canary-5',
  'X-Anything': 'own-canary-6',
  Referer: 'https://api.test/own-canary-7',
};

type Name = 'api' | 'second' | 'plain' | 'other' | 'forbidden';
let sites: Record<Name, Site>;
let tool: FetchTool;
let script: Map<string, string[]>;
let status = 302;

const answer: RequestListener = (request, response) => {
  const next = script.get(request.url ?? '');
  if (next === undefined) response.end('landed');
  else
    response
      .writeHead(
        status,
        next.flatMap((location) => ['location', location]),
      )
      .end('moved');
};

beforeAll(async () => {
  const authority = await createAuthority();
  const apiTls = await authority.issue('api.test', 'sub.api.test', 'evilapi.test');
  const open = async (...names: string[]) => openSite(answer, { tls: await authority.issue(...names) });
  sites = {
    api: await openSite(answer, { tls: apiTls }),
    second: await openSite(answer, { tls: apiTls }),
    plain: await openSite(answer),
    other: await open('other.test', '*.other.test'),
    forbidden: await open('forbidden.test', 'inner.test', 'sub.api.test', 'evilapi.test'),
  };
  tool = fetchTool(
    {
      PROXY_ALLOWED_DOMAINS: 'api.test,other.test,inner.test',
      FETCH_ALLOW_PRIVATE_DOMAINS: 'api.test,other.test',
      FETCH_EXTERNAL_TOKEN_MAP: '{"api.test":"API_TOKEN"}',
      API_TOKEN: TOKEN,
    },
    { ca: authority.ca, resolve: async () => ['127.0.0.1'] },
  );
});
afterAll(async () => {
  await tool.close();
  await Promise.all(Object.values(sites).map((site) => site.close()));
});

function located(text: string): string {
  const { api, second, plain, other, forbidden } = sites;
  const values: Record<string, string> = {
    TOKEN,
    TOKEN_BASE64: Buffer.from(TOKEN).toString('base64url'),
    TOKEN_HEX: Buffer.from(TOKEN).toString('hex'),
    API: `api.test:${api.port}`,
    API_CAPITALS: `API.TEST:${api.port}`,
    SUBDOMAIN: `sub.api.test:${forbidden.port}`,
    ALIKE: `evilapi.test:${forbidden.port}`,
    SECOND: `api.test:${second.port}`,
    PLAIN: `api.test:${plain.port}`,
    OTHER: `other.test:${other.port}`,
    FORBIDDEN: `forbidden.test:${forbidden.port}`,
    FORBIDDEN_PORT: String(forbidden.port),
  };
  return text.replaceAll(/[A-Z][A-Z_0-9]{2,}/g, (name) => values[name] ?? name);
}

/** What became of one chain, and whether every host got what is its own and no more. */
async function follow({ name, hops, ends }: Matrix, code: number, method: string): Promise<string[]> {
  status = code;
  script = new Map(
    hops.map((hop, index) => [index === 0 ? '/start' : `/${index}`, [hop].flat().map(located)]),
  );
  for (const site of Object.values(sites)) site.requests.length = 0;
  const before = sites.forbidden.connections();
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const outcome = await tool
    .call({
      url: located('https://API/start'),
      method,
      headers: OWN,
      ...(hasBody && { body: 'own-body' }),
      timeout_seconds: 20,
    })
    .then(
      ({ url }) => url,
      (error: unknown) => (error instanceof ToolError ? error.code : String(error)),
    );
  const faults: string[] = [];
  const landing = ends in sites ? sites[ends as Name].requests.at(-1) : undefined;
  const reached = landing?.url.includes('landed') === true && outcome.includes('landed');
  if (landing === undefined ? outcome !== ends : !reached) faults.push(`ended with ${outcome}`);
  if (landing !== undefined) {
    const drops = code === 303 ? method !== 'HEAD' : code < 303 && method === 'POST';
    const wanted = `${drops ? 'GET' : method} ${hasBody && !drops ? 'own-body' : ''}`;
    if (`${landing.method} ${landing.body}` !== wanted) faults.push(`${landing.method} with ${landing.body}`);
  }
  if (sites.forbidden.connections() !== before) faults.push('the forbidden host was called');
  for (const [place, { requests }] of Object.entries(sites)) faults.push(...leaks(place as Name, requests));
  return faults.map((fault) => `${name}, ${code} of ${method}: ${fault}`);
}

/** The token is for the host of that name over TLS, the caller's own headers for the first origin before it is left. */
function leaks(place: Name, requests: Site['requests']): string[] {
  return requests.flatMap((request, index) => {
    const seen = JSON.stringify([request.url, request.headers]);
    const forms = [TOKEN, Buffer.from(TOKEN).toString('base64url'), Buffer.from(TOKEN).toString('hex')];
    const faults: string[] = [];
    if (place === 'api' || place === 'second') {
      if (request.headers.authorization !== `Bearer ${TOKEN}`) faults.push(`${place} got no token`);
    } else if (forms.some((form) => seen.includes(form))) faults.push(`${place} got the token`);
    if (place !== 'api' && /own-canary/.test(seen)) faults.push(`${place} got a header of the first host`);
    if (place === 'api' && index === 0 && !seen.includes('own-canary-6')) {
      faults.push('the first host did not get the headers for it');
    }
    return faults;
  });
}

prove(
  'fetch_external',
  'Each redirect is judged afresh, and a secret reaches its own host alone',
  async () => {
    const failures: string[] = [];
    let chains = 0;
    let requests = 0;
    for (const [index, matrix] of MATRICES.entries()) {
      for (const code of STATUSES) {
        const methods = METHODS.filter((_, at) => whole || at === (index + code) % METHODS.length);
        for (const method of methods) {
          failures.push(...(await follow(matrix, code, method)));
          chains += 1;
          requests += Object.values(sites).reduce((sum, site) => sum + site.requests.length, 0);
        }
      }
    }
    return {
      tries: chains,
      failures,
      figures: `${MATRICES.length} matrices; ${requests} requests looked at, 0 secrets elsewhere`,
    };
  },
);
