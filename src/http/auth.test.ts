import { describe, expect, it } from 'vitest';

import { createAuthenticator } from './auth.ts';

const SECRET = 'Secret-0123456789 ';
const authenticated = createAuthenticator(SECRET);
const BASE = 'http://localhost/mcp';
const check = (query: string, headers: Record<string, string> = {}) =>
  authenticated(new Request(`${BASE}${query}`, { headers }));

describe('createAuthenticator', () => {
  it.each([
    ['query', '?token=Secret-0123456789%20', {}],
    ['query with +', '?token=Secret-0123456789+', {}],
    ['twice the same', '?token=Secret-0123456789%20&token=Secret-0123456789%20', {}],
  ])('accepts the secret: %s', (_, query, headers) => {
    expect(check(query, headers)).toBe(true);
  });

  it.each([
    ['none', '', {}],
    ['empty', '?token=', {}],
    ['wrong', '?token=nope', {}],
    ['other case', '?token=secret-0123456789%20', {}],
    ['without the trailing space', '?token=Secret-0123456789', {}],
    ['with one space more', '?token=Secret-0123456789%20%20', {}],
    ['another name', '?Token=Secret-0123456789%20', {}],
    ['two different ones', '?token=Secret-0123456789%20&token=other', {}],
    ['a right one and a wrong header', '?token=Secret-0123456789%20', { authorization: 'Bearer other' }],
    ['a right one and Basic', '?token=Secret-0123456789%20', { authorization: 'Basic abc' }],
    ['a right one and a wrong key', '?token=Secret-0123456789%20', { 'x-api-key': 'other' }],
    ['in the fragment', '#?token=Secret-0123456789%20', {}],
  ])('refuses: %s', (_, query, headers) => {
    expect(check(query, headers)).toBe(false);
  });

  it('accepts it in either header', () => {
    const plain = createAuthenticator('plain-secret');
    const ask = (headers: Record<string, string>) => plain(new Request(BASE, { headers }));
    expect(ask({ authorization: 'Bearer plain-secret' })).toBe(true);
    expect(ask({ authorization: 'bearer plain-secret' })).toBe(true);
    expect(ask({ 'x-api-key': 'plain-secret' })).toBe(true);
    expect(ask({ authorization: 'Bearer plain-secret', 'x-api-key': 'plain-secret' })).toBe(true);
    expect(ask({ authorization: 'plain-secret' })).toBe(false);
    expect(ask({ authorization: 'Bearer  plain-secret' })).toBe(false);
  });

  it('accepts the secret before it only while a rotation lasts', () => {
    const ask = (secret: string, ...secrets: [string, string?]) =>
      createAuthenticator(...secrets)(new Request(`${BASE}?token=${secret}`));
    expect(ask('old', 'new', 'old')).toBe(true);
    expect(ask('new', 'new', 'old')).toBe(true);
    expect(ask('old', 'new', '')).toBe(false);
    expect(ask('', 'new', '')).toBe(false);
  });
});
