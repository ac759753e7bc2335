// DNS rebinding (CVE-2025-66414, -9611, -49596): the name is looked up once for the check and once more for the
// connection. Spellings of 127.0.0.1 passed text filters (CVE-2026-49857).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { UnvettedAddressError, createEgress } from '../../src/net/egress.ts';
import { type Site, openSite } from '../support/fetch-servers.ts';
import { type FetchTool, fetchTool } from '../support/fetch-tool.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite((_, response) => response.end('reached'));
});
afterAll(() => site.close());

async function with_(
  env: Record<string, string>,
  addresses: string[],
  use: (tool: FetchTool) => Promise<void>,
) {
  const tool = fetchTool(env, { resolve: async () => addresses });
  await use(tool);
  await tool.close();
}

describe('no spelling of a forbidden host reaches it', () => {
  const HOSTS = [
    '127.0.0.1',
    '0x7f.1',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '2130706433',
    '①②⑦.0.0.1',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '127.0.0.1.',
    '0.0.0.0',
    '0',
    '[::1]',
    '[::]',
    '[::ffff:7f00:1]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[0:0:0:0:0:0:0:1]',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'loc%61lhost',
    'good.test.',
    'sub.good.test',
    'good.test.evil.test',
    'evilgood.test',
    'good.test@127.0.0.1',
    'good.test:80@127.0.0.1',
    'good.test%40127.0.0.1',
    '127.0.0.1#@good.test',
    '127.0.0.1?@good.test',
    '127.0.0.1\\@good.test',
    '127.0.0.1\t',
    'good.test\u3002',
    'ⓛocalhost',
    '169.254.169.254',
  ];

  it.each(HOSTS)('%s', async (host) => {
    const before = site.connections();
    await with_({ PROXY_ALLOWED_DOMAINS: 'good.test' }, ['127.0.0.1'], async (tool) => {
      for (const url of [
        `http://${host}:${site.port}/`,
        `http:${host}:${site.port}`,
        `http:\\\\${host}:${site.port}/`,
      ]) {
        await expect(tool.call({ url })).rejects.toThrow();
      }
    });
    expect(site.connections()).toBe(before);
  });
});

describe('an allowed name', () => {
  it.each([
    ['loopback', ['127.0.0.1']],
    ['mapped', ['::ffff:127.0.0.1']],
    ['private', ['10.0.0.5']],
    ['the mesh', ['100.101.102.103']],
    ['the mesh over IPv6', ['fd7a:115c:a1e0::5']],
    ['public and private', ['203.0.114.5', '127.0.0.1']],
    ['private and public', ['127.0.0.1', '203.0.114.5']],
    ['NAT64', ['64:ff9b::7f00:1']],
    ['link-local with a zone', ['fe80::1%lo']],
    ['metadata', ['169.254.169.254']],
  ])('that resolves to %s is refused', async (_, addresses) => {
    const before = site.connections();
    await with_({ PROXY_ALLOWED_DOMAINS: 'good.test' }, addresses, async (tool) => {
      const { code, message } = await tool.failure({ url: `http://good.test:${site.port}/` });
      expect([code, message]).toEqual([
        'address_not_allowed',
        expect.stringMatching(/^Address not allowed: good\.test resolves to \S+, which is /),
      ]);
    });
    expect(site.connections()).toBe(before);
  });

  it('that resolves to nothing fails by name', async () => {
    await with_({ PROXY_ALLOWED_DOMAINS: 'good.test' }, [], async (tool) => {
      const error = await tool.failure({ url: 'http://good.test/' });
      expect(error.message).toBe('The name good.test does not resolve (ENOTFOUND).');
    });
  });

  it('is given up when its look-up never ends', async () => {
    const tool = fetchTool({ PROXY_ALLOWED_DOMAINS: 'good.test' }, { resolve: () => new Promise(() => {}) });
    expect((await tool.failure({ url: 'http://good.test/', timeout_seconds: 1 })).code).toBe('timeout');
    await tool.close();
  });
});

describe('the operator’s exceptions', () => {
  const reach = async (env: Record<string, string>, host: string, addresses: string[]) => {
    let outcome = '';
    await with_(env, addresses, async (tool) => {
      const url = `http://${host}:${site.port}/`;
      outcome = await tool.call({ url }).then(
        ({ body }) => body,
        (error: { code: string }) => error.code,
      );
    });
    return outcome;
  };

  it.each([
    ['a literal', { PROXY_ALLOWED_DOMAINS: '127.0.0.1' }, '127.0.0.1', [], 'reached'],
    ['a literal, spelled otherwise', { PROXY_ALLOWED_DOMAINS: '127.0.0.1' }, '0x7f.1', [], 'reached'],
    ['not another literal', { PROXY_ALLOWED_DOMAINS: '127.0.0.1' }, '127.0.0.2', [], 'domain_not_allowed'],
    ['localhost', { PROXY_ALLOWED_DOMAINS: 'LocalHost' }, 'localhost', ['127.0.0.1'], 'reached'],
    [
      'localhost for loopback alone',
      { PROXY_ALLOWED_DOMAINS: 'localhost' },
      'localhost',
      ['10.0.0.1'],
      'address_not_allowed',
    ],
    [
      'a private name',
      { PROXY_ALLOWED_DOMAINS: 'nas.test', FETCH_ALLOW_PRIVATE_DOMAINS: 'nas.test' },
      'nas.test',
      ['127.0.0.1'],
      'reached',
    ],
    [
      'no private name for another',
      { PROXY_ALLOWED_DOMAINS: 'nas.test,web.test', FETCH_ALLOW_PRIVATE_DOMAINS: 'nas.test' },
      'web.test',
      ['127.0.0.1'],
      'address_not_allowed',
    ],
    [
      'no private name outside the allowlist',
      { PROXY_ALLOWED_DOMAINS: 'web.test', FETCH_ALLOW_PRIVATE_DOMAINS: 'nas.test' },
      'nas.test',
      ['127.0.0.1'],
      'domain_not_allowed',
    ],
    [
      'no private name for metadata',
      { PROXY_ALLOWED_DOMAINS: 'nas.test', FETCH_ALLOW_PRIVATE_DOMAINS: 'nas.test' },
      'nas.test',
      ['127.0.0.1', '64:ff9b::a9fe:a9fe'],
      'address_not_allowed',
    ],
  ])('%s', async (_, env, host, addresses, outcome) => {
    expect(await reach(env, host, addresses)).toBe(outcome);
  });
});

describe('rebinding', () => {
  it('changes nothing: 0 of 1,000 connections reach the second address', async () => {
    const port = site.port;
    const good = await openSiteAt('127.0.0.2', port);
    const before = site.connections();
    let lookups = 0;
    let refused = 0;
    for (let round = 0; round < 1000; round += 1) {
      let answers = 0;
      const egress = createEgress({
        vet: (_, address) => {
          if (address !== '127.0.0.2') throw new Error(`forbidden ${address}`);
        },
        resolve: async () => {
          lookups += 1;
          answers += 1;
          // Every second round the hostile answer comes first.
          return [(answers + round) % 2 === 1 ? '127.0.0.2' : '127.0.0.1'];
        },
      });
      const url = new URL(`http://rebind.test:${port}/`);
      try {
        const { body } = await egress.send({
          url,
          method: 'GET',
          headers: {},
          signal: new AbortController().signal,
        });
        expect(await body.text()).toBe('good');
      } catch {
        refused += 1;
      }
      await egress.close();
    }
    expect([lookups, refused, site.connections() - before]).toEqual([1000, 500, 0]);
    expect(good.connections()).toBe(500);
    await good.close();
  });
});

describe('a connection', () => {
  // A look-up that is left out, a translation on the way: what the socket says is the last word.
  it.each(['0.0.0.0', '::'])(
    'that ends elsewhere than at the vetted %s is closed unused',
    async (address) => {
      const everywhere = await openSite((_, response) => response.end('reached'), { host: '::' });
      const vetted: string[] = [];
      const egress = createEgress({
        vet: (_, each) => void vetted.push(each),
        // Connecting to the unspecified address leads to loopback.
        resolve: async () => [address],
      });
      const url = new URL(`http://elsewhere.test:${everywhere.port}/`);
      const { signal } = new AbortController();
      const failure = await egress
        .send({ url, method: 'GET', headers: {}, signal })
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(UnvettedAddressError);
      expect((failure as Error).message).toMatch(/^connected to (?:127\.0\.0\.1|::1)$/);
      expect([vetted, everywhere.requests]).toEqual([[address], []]);
      await egress.close();
      await everywhere.close();
    },
  );

  it('that is open is not used again once its address is no longer allowed', async () => {
    let isAllowed = true;
    const egress = createEgress({
      vet: () => {
        if (!isAllowed) throw new Error('no longer');
      },
      resolve: async () => ['127.0.0.1'],
    });
    const url = new URL(`http://reload.test:${site.port}/`);
    const send = async () => {
      const { body } = await egress.send({
        url,
        method: 'GET',
        headers: {},
        signal: AbortSignal.timeout(5000),
      });
      return body.text();
    };
    const before = site.requests.length;
    expect(await send()).toBe('reached');
    isAllowed = false;
    await expect(send()).rejects.toThrow('no longer');
    expect(site.requests.length - before).toBe(1);
    await egress.close();
  });
});

async function openSiteAt(host: string, port: number): Promise<Site> {
  return openSite((_, response) => response.end('good'), { host, port });
}
