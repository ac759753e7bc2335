// CVE-2026-49857 and GHSA-489g-7rxv-6c8q: a host that is checked in one spelling and fetched in another.
import { describe, expect, it } from 'vitest';

import { createFetchPolicy } from './policy.ts';

const policy = createFetchPolicy({
  allowedDomains: ['API.test', '[0:0::1]', '192.0.2.1'],
  allowPrivateDomains: ['api.test'],
});
const verdict = (decision: ReturnType<typeof policy.url>) =>
  decision.verdict === 'refuse' && 'error' in decision
    ? [decision.rule, decision.error.code, decision.error.message]
    : decision.verdict;

describe('url', () => {
  it.each([
    'https://api.test/x',
    'http://API.TEST:8080/',
    'https:\\\\api.test\\x',
    'https://api。test/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://192.0.2.1/',
    'http://0xc0000201/',
  ])('%s is allowed', (url) => {
    expect(verdict(policy.url(new URL(url)))).toBe('allow');
  });

  it.each([
    ['https://sub.api.test/', 'domain_not_allowed'],
    ['https://test/', 'domain_not_allowed'],
    ['https://api.test./', 'domain_not_allowed'],
    ['https://api.test.evil/', 'domain_not_allowed'],
    ['https://api.test@evil/', 'invalid_input'],
    ['https://evil#api.test', 'domain_not_allowed'],
    ['https://[::ffff:c000:201]/', 'domain_not_allowed'],
    ['https://user:pw@api.test/', 'invalid_input'],
    ['ftp://api.test/', 'invalid_input'],
    ['file://api.test/etc/passwd', 'invalid_input'],
    ['data:text/plain,x', 'invalid_input'],
    ['blob:https://api.test/x', 'invalid_input'],
  ])('%s is refused as %s', (url, code) => {
    expect(verdict(policy.url(new URL(url)))).toEqual([expect.any(String), code, expect.any(String)]);
  });

  it('says which domains there are', () => {
    const decision = policy.url(new URL('https://evil.test/'));
    expect(decision).toMatchObject({
      rule: 'PROXY_ALLOWED_DOMAINS',
      error: {
        message: 'Domain not allowed: evil.test is not an entry of PROXY_ALLOWED_DOMAINS.',
        details: {
          hint: 'Entries are whole hostnames: api.test, [::1], 192.0.2.1. The operator can add one.',
        },
      },
    });
  });

  it('never repeats a password', () => {
    const decision = policy.url(new URL('https://user:hunter2hunter2@api.test/'));
    expect(JSON.stringify(verdict(decision))).not.toContain('hunter2');
  });
});

describe('address', () => {
  const of = (host: string, address: string) => verdict(policy.address(new URL(`http://${host}/`), address));

  it.each([
    ['other.test', '8.8.8.8'],
    ['api.test', '10.0.0.1'],
    ['api.test', '100.64.0.1'],
    ['api.test', 'fd00::1'],
    ['[::1]', '::1'],
    ['localhost', '127.0.0.1'],
    ['localhost', '::1'],
  ])('%s may be at %s', (host, address) => {
    expect(of(host, address)).toBe('allow');
  });

  it.each([
    ['other.test', '10.0.0.1'],
    ['other.test', '127.0.0.1'],
    ['localhost', '192.168.0.1'],
    ['api.test', '169.254.169.254'],
    ['api.test', '100.100.100.200'],
    ['api.test', 'fd00:ec2::254'],
    ['api.test', '224.0.0.1'],
    ['api.test', '0.0.0.0'],
    ['api.test', 'nonsense'],
  ])('%s may not be at %s', (host, address) => {
    expect(of(host, address)).toEqual(['address', 'address_not_allowed', expect.stringContaining(address)]);
  });
});

describe('call', () => {
  const url = new URL('https://api.test/');
  const of = (call: object) => verdict(policy.call({ url, method: 'GET', ...call }));

  it.each([
    [{ headers: { 'X-Custom': 'é', Authorization: 'Bearer x' } }],
    [{ method: 'POST', json: null }],
    [{ method: 'DELETE', body: 'x' }],
    [{ offset: 5 }],
  ])('%j is allowed', (call) => {
    expect(of(call)).toBe('allow');
  });

  it.each([
    [{ method: 'POST', body: 'x', json: 1 }, 'two bodies'],
    [{ body: 'x' }, 'GET takes no body'],
    [{ method: 'HEAD', json: {} }, 'HEAD takes no body'],
    [{ method: 'POST', offset: 5 }, 'would send the POST request again'],
    [{ offset: -1 }, 'offset must be from 0'],
    [{ offset: Number.NaN }, 'offset must be from 0'],
    [{ headers: { Host: 'evil.test' } }, '"Host" is set by the server'],
    [{ headers: { 'content-LENGTH': '5' } }, 'is set by the server'],
    [{ headers: { 'Transfer-Encoding': 'chunked' } }, 'is set by the server'],
    [{ headers: { 'Proxy-Authorization': 'x' } }, 'is set by the server'],
    [{ headers: { Connection: 'authorization' } }, 'is set by the server'],
    [{ headers: { 'a b': 'x' } }, 'is not the name of a header'],
    [{ headers: { 'x:': 'x' } }, 'is not the name of a header'],
    [{ headers: { x: 'a\r\nHost: evil' } }, 'no header can carry'],
    [{ headers: { x: 'a\nb' } }, 'no header can carry'],
    [{ headers: { x: 'a\0b' } }, 'no header can carry'],
    [{ headers: { x: '€' } }, 'no header can carry'],
    [{ headers: { Accept: 'a', accept: 'b' } }, 'given twice'],
    [{ headers: { x: 'y'.repeat(20_000) } }, 'more than 16384 characters'],
  ])('%j is refused', (call, words) => {
    expect(of(call)).toEqual(['arguments', 'invalid_input', expect.stringContaining(words)]);
  });
});

describe('lists that a reload has replaced', () => {
  it('are in force with the next call', () => {
    const settings = { allowedDomains: ['old.test'], allowPrivateDomains: [] as string[] };
    const reloaded = createFetchPolicy(settings);
    const of = (url: string) => reloaded.url(new URL(url)).verdict;
    expect([of('https://old.test/'), of('https://new.test/')]).toEqual(['allow', 'refuse']);
    settings.allowedDomains = ['new.test'];
    expect([of('https://old.test/'), of('https://new.test/')]).toEqual(['refuse', 'allow']);
  });
});
