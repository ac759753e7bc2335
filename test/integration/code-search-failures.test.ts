import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { Fault } from '../standins/control.ts';
import { createCodeSearch } from '../../src/tools/code-search/tool.ts';
import type { CodeHostOptions } from '../../src/codehost/client.ts';
import { createCodeHost } from '../../src/codehost/client.ts';
import { TOKENS, type World, callTool, failureOf, startCodeHost } from './code-host-world.ts';
import { freePort } from '../support/server.ts';

let world: World;
beforeAll(async () => {
  world = await startCodeHost({ repositories: [{ name: 'me/app', files: { a: 'needle' } }] });
});
afterEach(() => {
  world.control.reset();
  world.clock.ms += 3_600_000;
});
afterAll(() => world.close());

const search = (options?: CodeHostOptions) =>
  callTool(createCodeSearch(world.codeHost(TOKENS.full, options)), { query: 'needle' });

/** Every fault of the API, what becomes of it, and how many requests it took. */
const CASES: [name: string, faults: Fault[], code: string, message: RegExp, requests: number][] = [
  ['500 twice', [{ status: 500 }, { status: 500 }], 'upstream_error', /answered 500 \(Server Error\)\.$/, 2],
  [
    '502 as HTML',
    [
      { status: 502, body: '<html>' },
      { status: 502, body: '<html>' },
    ],
    'upstream_error',
    /answered 502\.$/,
    2,
  ],
  [
    'not JSON',
    [{ body: '<html>Log in</html>' }],
    'upstream_error',
    /answered with something other than JSON\.$/,
    1,
  ],
  [
    'JSON of another shape',
    [{ body: { items: 1 } }],
    'upstream_error',
    /unexpected shape \(at total_count\)/,
    1,
  ],
  ['reset twice', [{ reset: true }, { reset: true }], 'upstream_error', /closed the connection/, 2],
  ['cut twice', [{ cut: true }, { cut: true }], 'upstream_error', /closed the connection/, 2],
  ['hang', [{ hang: true }], 'timeout', /did not answer within 0\.2 s\.$/, 1],
  ['an endless body', [{ bytes: 200 * 1024 * 1024 }], 'too_large', /answered with more than 32 MiB\.$/, 1],
  [
    'a redirect to another host',
    [{ status: 302, headers: { location: 'https://evil.example/x' } }],
    'upstream_error',
    /a redirect to evil\.example, which is not followed/,
    1,
  ],
  [
    '401',
    [{ status: 401 }],
    'auth_failed',
    /^Authentication failed: .* answered 401 \(Bad credentials\)\.$/,
    1,
  ],
  [
    '403 of a fine-grained token',
    [{ status: 403 }],
    'missing_scope',
    /^Authentication failed: .*Resource not accessible/,
    1,
  ],
  [
    '403 for single sign-on',
    [
      {
        status: 403,
        body: { message: 'Resource protected' },
        headers: { 'x-github-sso': 'required; url=x' },
      },
    ],
    'auth_failed',
    /^Authentication failed: .*Resource protected/,
    1,
  ],
  [
    '403 for no known reason',
    [{ status: 403, body: { message: 'No' } }],
    'auth_failed',
    /^Authentication failed: /,
    1,
  ],
  ['404', [{ status: 404 }], 'not_found', /answered 404/, 1],
  [
    '422 with a list of errors',
    [
      {
        status: 422,
        body: { message: 'Validation Failed', errors: [{ resource: 'Search', field: 'q', code: 'missing' }] },
      },
    ],
    'invalid_input',
    /\(Validation Failed: Search q missing\)\.$/,
    1,
  ],
  [
    'an answer that echoes the token',
    [{ status: 418, body: { message: `You sent ${TOKENS.full}` } }],
    'upstream_error',
    /\(You sent …\)\.$/,
    1,
  ],
];

describe('a fault of the code host is named, bounded, and never shows the token', () => {
  it.each(CASES)('%s', async (_, faults, code, message, requests) => {
    world.control.fail('code_host', ...faults);
    const error = await failureOf(search({ timeoutMs: code === 'timeout' ? 200 : 10_000 }));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
    expect(error.message).toContain(world.host);
    expect(world.asked()).toHaveLength(requests);
  });

  it('nothing listening', async () => {
    const port = await freePort();
    const codeHost = createCodeHost({ token: TOKENS.full, apiUrl: `http://127.0.0.1:${port}` });
    const error = await failureOf(callTool(createCodeSearch(codeHost), { query: 'needle' }));
    expect(error.code).toBe('connection_refused');
    expect(error.message).toBe(`Connection refused: nothing listens at 127.0.0.1:${port}.`);
  });
});

describe('an answer without a body where one was asked for', () => {
  it.each([
    [204, /answered JSON of an unexpected shape \(at the top level\)\.$/],
    [304, /answered 304\.$/],
  ])('%i is named', async (status, message) => {
    const server = createServer((_, response) => void response.writeHead(status).end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const codeHost = createCodeHost({ token: TOKENS.full, apiUrl: `http://127.0.0.1:${port}` });
    const error = await failureOf(callTool(createCodeSearch(codeHost), { query: 'needle' }));
    await codeHost.close();
    server.close();
    expect(error.code).toBe('upstream_error');
    expect(error.message).toMatch(message);
  });
});

describe('a passing fault', () => {
  it.each<[string, Fault]>([
    ['503', { status: 503 }],
    ['a reset', { reset: true }],
  ])('%s is tried once more', async (_, fault) => {
    world.control.fail('code_host', fault);
    expect(await search()).toMatchObject({ total: 1 });
    expect(world.asked()).toHaveLength(2);
  });
});

describe('limits told by an answer', () => {
  const cases: [string, Fault, number][] = [
    [
      'Retry-After in seconds',
      { status: 403, retry_after: 37, body: { message: 'secondary rate limit' } },
      37,
    ],
    ['Retry-After as a date', { status: 429, retry_after: 'Sat, 01 Jan 2000 00:00:00 GMT', body: {} }, 1],
    ['429 without a time', { status: 429, body: { message: 'slow down' } }, 60],
    [
      '403 for abuse without a time',
      { status: 403, body: { message: 'You have triggered an abuse detection mechanism.' } },
      60,
    ],
    [
      'the main limit, by the code host’s own clock',
      {
        status: 403,
        body: { message: 'API rate limit exceeded' },
        headers: {
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': '946684890',
          date: 'Sat, 01 Jan 2000 00:00:00 GMT',
        },
      },
      90,
    ],
    [
      'a reset in a far future, as at most an hour',
      {
        status: 403,
        body: {},
        headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '99999999999' },
      },
      3600,
    ],
  ];
  it.each(cases)('%s', async (_, fault, seconds) => {
    world.control.fail('code_host', fault);
    const tool = createCodeSearch(world.codeHost());
    const error = await failureOf(callTool(tool, { query: 'needle' }));
    expect(error.code).toBe('rate_limited');
    expect(error.details.retryAfterSeconds).toBe(seconds);

    // Asking on during a limit is what gets tokens blocked.
    await failureOf(callTool(tool, { query: 'needle' }));
    expect(world.asked()).toHaveLength(1);
    world.clock.ms += seconds * 1000;
    expect(await callTool(tool, { query: 'needle' })).toMatchObject({ total: 1 });
  });
});

it('a caller who leaves ends the request at once', async () => {
  world.control.fail('code_host', { hang: true });
  const leaving = new AbortController();
  const call = callTool(createCodeSearch(world.codeHost()), { query: 'needle' }, { signal: leaving.signal });
  await expect.poll(() => world.asked().length).toBe(1);
  leaving.abort(new Error('left'));
  await expect(call).rejects.toThrow('left');
});
