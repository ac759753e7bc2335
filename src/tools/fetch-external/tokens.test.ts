import { describe, expect, it } from 'vitest';

import { tokenFor, tokensOf } from './tokens.ts';

const secrets = new Map([
  ['A', 'secret-a'],
  ['PAIR', 'user:pass'],
  ['BAD', 'a\nb'],
]);

describe('tokensOf', () => {
  it.each([
    ['A', ['authorization', 'Bearer secret-a']],
    [{ env: 'A' }, ['authorization', 'Bearer secret-a']],
    [{ env: 'A', scheme: 'token' }, ['authorization', 'token secret-a']],
    [{ env: 'A', scheme: '' }, ['authorization', 'secret-a']],
    [{ env: 'A', header: 'Private-Token' }, ['private-token', 'secret-a']],
    [{ env: 'A', header: 'X-Auth', scheme: 'Key' }, ['x-auth', 'Key secret-a']],
    [{ env: 'PAIR', scheme: 'Basic' }, ['authorization', 'Basic dXNlcjpwYXNz']],
  ])('of %j', (entry, sent) => {
    const token = tokensOf({ 'API.test': entry }, secrets).get('api.test');
    expect([token?.header, token?.headerValue]).toEqual(sent);
  });

  it('refuses what no header can carry, without repeating it', () => {
    expect(() => tokensOf({ 'api.test': 'BAD' }, secrets)).toThrow(
      'FETCH_EXTERNAL_TOKEN_MAP: the value of BAD is empty or holds a character that no header can carry.',
    );
  });
});

describe('tokenFor', () => {
  const map = { 'api.test': 'A', '127.0.0.1': 'A', '[::1]': 'A', '192.0.2.1': 'A', localhost: 'A' };
  const tokens = tokensOf(map, secrets);

  it.each([
    ['https://api.test/', true],
    ['https://API.test:8443/', true],
    ['http://127.0.0.1:3000/', true],
    ['http://[::1]/', true],
    ['http://api.test/', false],
    ['http://192.0.2.1/', false],
    ['http://localhost/', false],
    ['https://sub.api.test/', false],
    ['https://127.0.0.2/', false],
  ])('%s gets one: %s', (url, has) => {
    expect(tokenFor(new URL(url), tokens) !== undefined).toBe(has);
  });
});
