// Tokens have come back through echoing servers, in headers, at the edge of a cut and inside base64.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Site, openSite } from '../support/fetch-servers.ts';
import { type TestServer, startTestServer } from '../support/server.ts';

const TOKEN = 'tok_canary_0123456789abcdef';
const PADDING = 5000;

let site: Site;
let server: TestServer;
const at = (path: string) => `http://127.0.0.1:${site.port}${path}`;
const fetchExternal = (args: object) => server.call('fetch_external', args);

/** Every stretch of the token that would help to guess it. */
function parts(): string[] {
  return Array.from({ length: TOKEN.length - 9 }, (_, from) => TOKEN.slice(from, from + 10));
}

beforeAll(async () => {
  site = await openSite((request, response) => {
    const token = request.headers.authorization ?? '';
    response.setHeader('x-echo', token);
    response.setHeader('content-type', 'text/plain');
    if (request.url === '/bytes') response.setHeader('content-type', 'application/zip');
    const base64 = Buffer.from(`{"authorization":"${token}"}`).toString('base64');
    response.end(`${'.'.repeat(PADDING)}${token}|${base64}|${Buffer.from(token).toString('hex')}`);
  });
  server = await startTestServer({
    PROXY_ALLOWED_DOMAINS: '127.0.0.1',
    FETCH_EXTERNAL_TOKEN_MAP: '{"127.0.0.1":"SITE_TOKEN"}',
    SITE_TOKEN: TOKEN,
  });
});
afterAll(async () => {
  await server.close();
  await site.close();
});

describe('through the gate', () => {
  it('an answer is audited, without the token', async () => {
    const { isError, structuredContent } = await fetchExternal({ url: at('/text') });
    expect(isError ?? false).toBe(false);
    expect(structuredContent).toMatchObject({ status: 200, token_injected: true, truncated: false });
    expect(site.requests.at(-1)?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(server.audit().slice(-2)).toMatchObject([
      { event: 'intent', tool: 'fetch_external', arguments: { url: at('/text') }, decision: 'allow' },
      { event: 'outcome', tool: 'fetch_external', outcome: 'ok' },
    ]);
  });

  it('a refusal is audited, with its rule', async () => {
    const { isError, structuredContent } = await fetchExternal({ url: 'https://evil.test/' });
    expect([isError, structuredContent]).toEqual([
      true,
      {
        error: {
          code: 'domain_not_allowed',
          message: 'Domain not allowed: evil.test is not an entry of PROXY_ALLOWED_DOMAINS.',
          hint: 'Entries are whole hostnames: 127.0.0.1. The operator can add one.',
        },
      },
    ]);
    expect(server.audit().at(-1)).toMatchObject({
      event: 'refused',
      tool: 'fetch_external',
      decision: 'refuse',
      rule: 'PROXY_ALLOWED_DOMAINS',
      error_code: 'domain_not_allowed',
    });
  });

  it('a failure of the host is audited, with its code', async () => {
    const { structuredContent } = await fetchExternal({ url: 'http://127.0.0.1:1/' });
    expect(structuredContent.error).toMatchObject({
      code: 'connection_refused',
      message: 'Connection refused: nothing listens at 127.0.0.1:1.',
    });
    expect(server.audit().at(-1)).toMatchObject({ outcome: 'error', error_code: 'connection_refused' });
  });

  it('a URL that is none is invalid', async () => {
    const { structuredContent } = await fetchExternal({ url: 'example.org' });
    expect(structuredContent.error?.message).toBe(
      'fetch_external was called with invalid arguments: "url": it is not an absolute URL of at most 8192 characters.',
    );
  });

  it('no cut of an echoing body shows ten characters of the token', async () => {
    const seen: string[] = [];
    for (let cut = PADDING; cut < PADDING + 260; cut += 3) {
      const results = await Promise.all([
        fetchExternal({ url: at('/text'), max_bytes: cut }),
        fetchExternal({ url: at('/text'), offset: cut }),
        fetchExternal({ url: at('/bytes'), max_bytes: cut, format: 'base64' }),
        fetchExternal({ url: at('/bytes'), offset: cut, format: 'base64' }),
      ]);
      for (const { structuredContent } of results) {
        const { body, headers } = structuredContent as { body: string; headers: object };
        const plain = Buffer.from(body, 'base64').toString('latin1');
        seen.push(JSON.stringify(headers), body, plain, ...unpacked(body), ...unpacked(plain));
      }
    }
    expect(seen.length).toBeGreaterThan(2000);
    const leaks = parts().filter((part) => seen.some((text) => text.includes(part)));
    expect(leaks).toEqual([]);
    expect(server.auditText() + server.output()).not.toContain(TOKEN);
  });
});

/** The longer runs of base64 and hexadecimal in a text, decoded. */
function unpacked(text: string): string[] {
  return text
    .split(/[.|[\]*]/)
    .filter((run) => run.length > 9)
    .flatMap((run) => [
      ...[0, 1, 2, 3].map((skip) => Buffer.from(run.slice(skip), 'base64').toString('latin1')),
      ...[0, 1].map((skip) => Buffer.from(run.slice(skip), 'hex').toString('latin1')),
    ]);
}
