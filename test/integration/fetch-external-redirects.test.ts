// Fetchers have checked the first URL and followed the redirect (SSRF), and have passed on what was meant for the
// first host: undici's own fetch forwards x-api-key and private-token to wherever a redirect points.
import type { RequestListener } from 'node:http';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { type Authority, createAuthority } from '../support/fetch-ca.ts';
import { type Site, openSite } from '../support/fetch-servers.ts';
import { type FetchTool, fetchTool } from '../support/fetch-tool.ts';

const TOKEN = 'tok_0123456789abcdefXYZ';
let authority: Authority;

let api: Site;
let other: Site;
let forbidden: Site;
let plain: Site;
let tool: FetchTool;
let apiAnswer: RequestListener;

const apiUrl = (path: string) => `https://api.test:${api.port}${path}`;
const otherUrl = (path: string) => `https://other.test:${other.port}${path}`;
const echo: RequestListener = (request, response) => response.end(JSON.stringify(request.headers));
const redirect =
  (status: number, location: string): RequestListener =>
  (request, response) =>
    request.url === '/start' ? response.writeHead(status, { location }).end() : echo(request, response);

beforeAll(async () => {
  authority = await createAuthority();
  api = await openSite((request, response) => apiAnswer(request, response), {
    tls: await authority.issue('api.test'),
  });
  other = await openSite(echo, { tls: await authority.issue('other.test') });
  forbidden = await openSite(echo, { tls: await authority.issue('forbidden.test') });
  plain = await openSite(echo);
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
  await Promise.all([api, other, forbidden, plain].map((site) => site.close()));
});
afterEach(() => {
  for (const site of [api, other, forbidden, plain]) site.requests.length = 0;
});

describe('the token', () => {
  it('goes to its own domain, and is not shown where it comes back', async () => {
    apiAnswer = (request, response) => {
      response.setHeader('x-echo', request.headers.authorization ?? '');
      echo(request, response);
    };
    const answer = await tool.call({
      url: apiUrl('/echo'),
      headers: { Authorization: 'Bearer of-the-caller' },
    });
    expect(api.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(answer.token_injected).toBe(true);
    expect(answer.headers['x-echo']).toBe('Bearer [redacted API_TOKEN]');
    expect(JSON.parse(answer.body)).toMatchObject({ authorization: 'Bearer [redacted API_TOKEN]' });
    expect(JSON.stringify(answer)).not.toContain(TOKEN);
  });

  it('does not follow a redirect to another host, nor do the caller’s own secrets', async () => {
    apiAnswer = redirect(307, otherUrl('/landed'));
    const answer = await tool.call({
      url: apiUrl('/start'),
      method: 'POST',
      json: { a: 1 },
      headers: {
        'X-Api-Key': 'k',
        'Private-Token': 'p',
        Cookie: 'c=1',
        Proxyish: 'x',
        'Accept-Language': 'de',
      },
    });
    expect(api.requests[0]?.headers).toMatchObject({ 'x-api-key': 'k', 'private-token': 'p', cookie: 'c=1' });
    expect(other.requests).toEqual([
      {
        method: 'POST',
        url: '/landed',
        headers: {
          host: `other.test:${other.port}`,
          connection: 'keep-alive',
          accept: '*/*',
          'accept-encoding': 'gzip, deflate, br, zstd',
          'accept-language': 'de',
          'content-type': 'application/json',
          'content-length': '7',
          'user-agent': 'remote-tool-server/0.1.0',
        },
        body: '{"a":1}',
      },
    ]);
    expect(answer).toMatchObject({
      status: 200,
      url: otherUrl('/landed'),
      redirects: [apiUrl('/start')],
      token_injected: true,
    });
  });

  it('does not come along in the URL of a redirect', async () => {
    for (const echoed of [
      TOKEN,
      Buffer.from(TOKEN).toString('base64url'),
      Buffer.from(TOKEN).toString('hex'),
    ]) {
      apiAnswer = redirect(302, otherUrl(`/?stolen=${echoed}`));
      const error = await tool.failure({ url: apiUrl('/start') });
      expect(error.message).toBe(
        'api.test redirects to other.test with a token in the URL, which is not followed.',
      );
    }
    expect(other.connections()).toBeLessThan(2);
    expect(other.requests).toEqual([]);
  });

  it('is not shown in the URLs that its own host makes of it', async () => {
    apiAnswer = (request, response) => {
      const next = { '/start': `/${TOKEN}/1`, [`/${TOKEN}/1`]: `/${TOKEN}/2` }[request.url ?? ''];
      if (next === undefined) response.end('there');
      else response.writeHead(302, { location: next }).end();
    };
    expect(await tool.call({ url: apiUrl('/start') })).toMatchObject({
      body: 'there',
      url: apiUrl('/[redacted API_TOKEN]/2'),
      redirects: [apiUrl('/start'), apiUrl('/[redacted API_TOKEN]/1')],
    });
  });

  it('is not shown in the message of a failure', async () => {
    apiAnswer = (_, response) => response.writeHead(302, { location: `/${TOKEN}` }).end();
    const circles = await tool.failure({ url: apiUrl('/start') });
    expect(circles.message).toContain(`${apiUrl('/start')} → ${apiUrl('/[redacted API_TOKEN]')}`);
    expect(circles.message).not.toContain(TOKEN);
    apiAnswer = redirect(302, `https://${TOKEN.replaceAll('_', '-')}.evil.test/${TOKEN}`);
    expect((await tool.failure({ url: apiUrl('/start') })).message).not.toContain(TOKEN);
  });

  it('does not go out without TLS', async () => {
    const answer = await tool.call({ url: `http://api.test:${plain.port}/` });
    expect(answer.token_injected).toBe(false);
    expect(plain.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('that is refused is a failure that names its variable', async () => {
    apiAnswer = (_, response) => response.writeHead(401).end(`{"message":"Bad credentials ${TOKEN}"}`);
    const error = await tool.failure({ url: apiUrl('/user') });
    expect([error.code, error.message]).toEqual([
      'auth_failed',
      'Authentication failed: api.test answered 401 to the token in API_TOKEN.',
    ]);
    expect(error.details.facts).toEqual({
      status: 401,
      url: apiUrl('/user'),
      body: '{"message":"Bad credentials [redacted API_TOKEN]"}',
    });
  });

  it('that lacks a scope is one that names the scope', async () => {
    apiAnswer = (_, response) =>
      response.writeHead(404, { 'x-oauth-scopes': 'repo', 'x-accepted-oauth-scopes': 'gist' }).end('{}');
    const error = await tool.failure({ url: apiUrl('/gists'), method: 'POST', json: {} });
    expect([error.code, error.message]).toEqual([
      'missing_scope',
      'Authentication failed: api.test answered 404, and the token in API_TOKEN lacks what the call needs: gist.',
    ]);
  });

  it('is not blamed for any other answer', async () => {
    apiAnswer = (_, response) =>
      response
        .writeHead(403, { 'x-oauth-scopes': 'repo, gist', 'x-accepted-oauth-scopes': 'repo' })
        .end('limit');
    expect(await tool.call({ url: apiUrl('/user') })).toMatchObject({ status: 403, body: 'limit' });
    apiAnswer = (_, response) => response.writeHead(404).end('no');
    expect(await tool.call({ url: apiUrl('/user') })).toMatchObject({ status: 404, body: 'no' });
  });
});

describe('a redirect', () => {
  it.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [301, 'PUT', 'PUT'],
    [307, 'POST', 'POST'],
    [308, 'PATCH', 'PATCH'],
  ])('%i of %s is followed by %s', async (status, method, then) => {
    apiAnswer = redirect(status, '/landed');
    await tool.call({ url: apiUrl('/start'), method, body: 'text' });
    const [, landed] = api.requests;
    expect([landed?.method, landed?.body]).toEqual([then, then === 'GET' ? '' : 'text']);
    expect(landed?.headers['content-type']).toBe(then === 'GET' ? undefined : 'text/plain; charset=utf-8');
  });

  it('keeps HEAD through 303', async () => {
    apiAnswer = redirect(303, '/landed');
    await tool.call({ url: apiUrl('/start'), method: 'HEAD' });
    expect(api.requests.map(({ method }) => method)).toEqual(['HEAD', 'HEAD']);
  });

  it.each([
    ['another host', () => `https://forbidden.test:${forbidden.port}/`, 'domain_not_allowed'],
    ['an address', () => `https://127.0.0.1:${forbidden.port}/`, 'domain_not_allowed'],
    ['a name of a private address', () => `https://inner.test:${forbidden.port}/`, 'address_not_allowed'],
    ['a user’s password', () => `https://a:b@other.test:${other.port}/`, 'invalid_input'],
    ['a file', () => 'file:///etc/passwd', 'invalid_input'],
    ['no URL', () => 'https://[', 'upstream_error'],
  ])('to %s is refused', async (_, location, code) => {
    apiAnswer = redirect(302, location());
    expect((await tool.failure({ url: apiUrl('/start') })).code).toBe(code);
    expect(forbidden.connections()).toBe(0);
    expect(other.requests).toEqual([]);
  });

  it('that goes in circles ends after five', async () => {
    apiAnswer = (_, response) => response.writeHead(302, { location: '/start' }).end();
    const error = await tool.failure({ url: apiUrl('/start') });
    expect([error.code, error.message]).toEqual([
      'upstream_error',
      expect.stringContaining('More than 5 redirects: https://api.test'),
    ]);
    expect(api.requests).toHaveLength(6);
  });

  it('without a Location is an answer', async () => {
    apiAnswer = (_, response) => response.writeHead(302).end('where?');
    expect(await tool.call({ url: apiUrl('/start') })).toMatchObject({ status: 302, body: 'where?' });
  });
});

describe('TLS', () => {
  it.each([
    ['for another host', 'other.test', () => api.port, 'its certificate is for another host'],
    ['that is none', 'api.test', () => plain.port, 'it does not speak TLS'],
  ])('with a certificate %s fails by name', async (_, host, port, words) => {
    const error = await tool.failure({ url: `https://${host}:${port()}/` });
    expect([error.code, error.message]).toEqual(['upstream_error', expect.stringContaining(words)]);
  });

  it('with an unknown authority fails by name', async () => {
    const strict = fetchTool(
      { PROXY_ALLOWED_DOMAINS: 'api.test', FETCH_ALLOW_PRIVATE_DOMAINS: 'api.test' },
      { resolve: async () => ['127.0.0.1'] },
    );
    const error = await strict.failure({ url: apiUrl('/') });
    expect(error.message).toMatch(
      /^TLS with api.test:\d+ failed: its certificate comes from an unknown authority/,
    );
    await strict.close();
  });
});
