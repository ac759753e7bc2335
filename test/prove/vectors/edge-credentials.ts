import { createHash } from 'node:crypto';

import { LAST, request, type Variant } from './edge-request.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

/**
 * Values that are nearly the secret. What went wrong elsewhere: a comparison that stops at the shorter of the two, or
 * at a NUL; one without regard to case, or after trimming or Unicode folding; truthy placeholders; injection into
 * whatever looks the secret up.
 */
function wrongValues(secret: string): Record<string, string> {
  const fullwidth = secret.replace(/[0-9]/g, (digit) => String.fromCharCode(0xff10 + Number(digit)));
  return {
    empty: '',
    'one space': ' ',
    'all but the last': secret.slice(0, -1),
    'all but the first': secret.slice(1),
    'first half': secret.slice(0, 32),
    'second half': secret.slice(32),
    'first character': secret.slice(0, 1),
    'one more': `${secret}0`,
    'one before': `0${secret}`,
    'upper case': secret.toUpperCase(),
    'one letter upper': secret.replace(/[a-f]/, (letter) => letter.toUpperCase()),
    'one changed at the end': secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0'),
    'one changed at the start': (secret.startsWith('0') ? '1' : '0') + secret.slice(1),
    reversed: secret.split('').toReversed().join(''),
    twice: secret + secret,
    'with a comma': `${secret},${secret}`,
    'with a semicolon': `${secret};`,
    quoted: `"${secret}"`,
    'in single quotes': `'${secret}'`,
    'in angle brackets': `<${secret}>`,
    'as hexadecimal': `0x${secret}`,
    'its digest': createHash('sha256').update(secret).digest('hex'),
    'its bytes in base64': base64(secret),
    'hex decoded to base64': Buffer.from(secret, 'hex').toString('base64'),
    'a dot inside': `${secret.slice(0, 32)}.${secret.slice(32)}`,
    'full-width digits': fullwidth,
    'zero-width space': `${secret}\u200B`,
    'Cyrillic a':
      secret.replace('a', '\u0430') === secret ? `${secret}\u0430` : secret.replace('a', '\u0430'),
    'percent signs': '%%%',
    undefined: 'undefined',
    null: 'null',
    true: 'true',
    object: '[object Object]',
    'a wildcard': '*',
    'an expression': '.*',
    'a query operator': '{"$ne":null}',
    SQL: "' OR '1'='1",
    'a path': '../../../../proc/self/environ',
    'the variable': '${MCP_SECRET}',
    'zeros of its length': '0'.repeat(secret.length),
    'a thousand of its first': secret.slice(0, 1).repeat(1_000),
  };
}

/** For the query alone: a header would lose the white space, or be two headers. */
const WHITE = {
  space: ' ',
  tab: '\t',
  'line feed': '\n',
  'return and feed': '\r\n',
  NUL: '\0',
  nbsp: '\u00A0',
};

/** Names that are nearly `token`, and parameters that a laxer parser would read as it. */
const queries = (secret: string): string[] => [
  `Token=${secret}`,
  `TOKEN=${secret}`,
  `token[]=${secret}`,
  `token[0]=${secret}`,
  `token%5B%5D=${secret}`,
  `token[$ne]=x`,
  `token.value=${secret}`,
  `%20token=${secret}`,
  `token%20=${secret}`,
  `+token=${secret}`,
  `token%00=${secret}`,
  `access_token=${secret}`,
  `api_key=${secret}`,
  `x-api-key=${secret}`,
  `authorization=Bearer%20${secret}`,
  `secret=${secret}`,
  `MCP_SECRET=${secret}`,
  `password=${secret}`,
  `tok%D0%B5n=${secret}`,
  `;token=${secret}`,
  `a=1;token=${secret}`,
  `a=1%26token=${secret}`,
  `a=1%3Btoken=${secret}`,
  `?token=${secret}`,
  `%3Ftoken=${secret}`,
  `token%3D${secret}`,
  `token:${secret}`,
  `token==${secret}`,
  `token=${secret}=`,
  `token=%25${secret}`,
  `token=${Buffer.from(secret).toString('hex').replaceAll(/../g, '%25$&')}`,
  `token=${secret.slice(0, 32)}&token=${secret.slice(32)}`,
  `token[]=${secret.slice(0, 32)}&token[]=${secret.slice(32)}`,
  `token=%u0030${secret.slice(1)}`,
  `token=${secret}%`,
  `token=${secret}%23`,
  secret,
  `=${secret}`,
  `token&${secret}`,
  `token=;${secret}`,
  `token={${secret}}`,
  `token=[%22${secret}%22]`,
];

/** Schemes and forms of Authorization other than `Bearer`, one space, the secret. */
const authorizations = (secret: string): string[] => [
  secret,
  'Bearer',
  `Bearer${secret}`,
  `Bearer:${secret}`,
  `Bearer=${secret}`,
  `Bearer,${secret}`,
  `Bearer  ${secret}`,
  `Bearer\t${secret}`,
  `Bearer "${secret}"`,
  `Bearer ${secret} x`,
  `Bearer x ${secret}`,
  `Bearer Bearer ${secret}`,
  `Bearer ${secret}, Bearer ${secret}`,
  `Bearer token=${secret}`,
  `Bearer ${base64(secret)}`,
  `Basic ${secret}`,
  `Basic ${base64(secret)}`,
  `Basic ${base64(`:${secret}`)}`,
  `Basic ${base64(`token:${secret}`)}`,
  `Basic ${base64(`${secret}:`)}`,
  `Token ${secret}`,
  `Token token="${secret}"`,
  `Digest username="${secret}", response="${secret}"`,
  `ApiKey ${secret}`,
  `Negotiate ${base64(secret)}`,
  `X-Bearer ${secret}`,
  `Basic x, Bearer ${secret}`,
];

/** Headers that carry no credentials here, but do, or claim an identity or a route, elsewhere. */
const elsewhere = (secret: string): string[] => [
  `Cookie: token=${secret}`,
  `Cookie: console_session=${secret}`,
  `Cookie: x-api-key=${secret}; Authorization=Bearer ${secret}`,
  `Referer: https://localhost/mcp?token=${secret}`,
  `Proxy-Authorization: Bearer ${secret}`,
  `Authentication: Bearer ${secret}`,
  `X-Authorization: Bearer ${secret}`,
  `X-Forwarded-Authorization: Bearer ${secret}`,
  `X-Original-Authorization: Bearer ${secret}`,
  `X-Auth-Token: ${secret}`,
  `X-Access-Token: ${secret}`,
  `X-Token: ${secret}`,
  `Token: ${secret}`,
  `Api-Key: ${secret}`,
  `X_Api_Key: ${secret}`,
  `X-Api-Keys: ${secret}`,
  `X.Api.Key: ${secret}`,
  `Mcp-Session-Id: ${secret}`,
  `Sec-WebSocket-Protocol: bearer, ${secret}`,
  `User-Agent: ${secret}`,
  `Forwarded: for=127.0.0.1;host=localhost;proto=https;by=${secret}`,
  `X-Original-URL: /mcp?token=${secret}`,
  `X-Rewrite-URL: /mcp?token=${secret}`,
  `X-Forwarded-Uri: /mcp?token=${secret}`,
  `X-Forwarded-Path: /mcp?token=${secret}`,
  'X-Forwarded-For: 127.0.0.1',
  'X-Forwarded-User: admin',
  'X-Remote-User: root',
  'X-Authenticated: true',
  'X-Client-Cert-Verified: SUCCESS',
  'X-Internal-Request: 1',
];

/** What lets a request in, each in its place; the first of two is named first. */
const places: Record<string, (value: string) => { query?: string; header?: string }> = {
  query: (value) => ({ query: `token=${encodeURIComponent(value)}` }),
  bearer: (value) => ({ header: `Authorization: Bearer ${value}` }),
  'x-api-key': (value) => ({ header: `X-Api-Key: ${value}` }),
};

/**
 * Two credentials that differ. What went wrong elsewhere: the proxy checks the one, the server the other.
 */
function conflicts(secret: string, body: string): Variant[] {
  const wrong = { empty: '', other: 'other', half: secret.slice(0, 32), upper: secret.toUpperCase() };
  return Object.entries(places).flatMap(([one, first]) =>
    Object.entries(places).flatMap(([two, second]) =>
      Object.entries(wrong).flatMap(([how, value]) =>
        [true, false].map((rightFirst) => {
          const found = rightFirst ? [first(secret), second(value)] : [first(value), second(secret)];
          const query = found.flatMap((place) => place.query ?? []).join('&');
          const headers = found.flatMap((place) => place.header ?? []);
          const target = query === '' ? '/mcp' : `/mcp?${query}`;
          const name = `${one} and ${two}, ${how} ${rightFirst ? 'second' : 'first'}`;
          return { kind: 'conflict', name, parts: bytes(request({ target, headers, body })) };
        }),
      ),
    ),
  );
}

const bytes = (text: string): Buffer[] => [Buffer.from(text + LAST)];

/** Requests without a valid credential, each with a call in its body. */
export function credentialVariants(secret: string, body: string): Variant[] {
  const send = (kind: string, name: string, target: string, headers: string[] = []): Variant => ({
    kind,
    name,
    parts: bytes(request({ target, headers, body })),
  });
  const values = Object.entries(wrongValues(secret));
  const trimmed = values.filter(([, value]) => value.trim() === value);
  return [
    send('none', 'no credential', '/mcp'),
    ...values.map(([name, value]) => send('query', name, `/mcp?token=${encodeURIComponent(value)}`)),
    ...Object.entries(WHITE).flatMap(([name, white]) => [
      send('query', `${name} after`, `/mcp?token=${secret}${encodeURIComponent(white)}`),
      send('query', `${name} before`, `/mcp?token=${encodeURIComponent(white)}${secret}`),
    ]),
    ...trimmed.map(([name, value]) => send('bearer', name, '/mcp', [`Authorization: Bearer ${value}`])),
    ...trimmed.map(([name, value]) => send('x-api-key', name, '/mcp', [`X-Api-Key: ${value}`])),
    ...queries(secret).map((query) => send('parameter', query.replace(secret, '…'), `/mcp?${query}`)),
    ...authorizations(secret).map((value) =>
      send('scheme', value.replaceAll(secret, '…'), '/mcp', [`Authorization: ${value}`]),
    ),
    ...elsewhere(secret).map((line) => send('elsewhere', line.replaceAll(secret, '…'), '/mcp', [line])),
    ...conflicts(secret, body),
  ];
}

/** The forms that do let a request in: they show that the calls above would have been seen. */
export function validVariants(secret: string, body: string): Variant[] {
  const forms: [string, string, string[]][] = [
    ['query', `/mcp?token=${secret}`, []],
    ['query, name encoded', `/mcp?%74oken=${secret}`, []],
    ['query among others', `/mcp?a=1&token=${secret}&b=2`, []],
    ['bearer', '/mcp', [`Authorization: Bearer ${secret}`]],
    ['bearer in capitals', '/mcp', [`AUTHORIZATION: BEARER ${secret}`]],
    ['x-api-key', '/mcp', [`x-api-key: ${secret}`]],
    ['all three', `/mcp?token=${secret}`, [`Authorization: Bearer ${secret}`, `X-Api-Key: ${secret}`]],
    ['own origin', `/mcp?token=${secret}`, ['Origin: https://localhost']],
  ];
  return forms.map(([name, target, headers]) => ({
    kind: 'valid',
    name,
    parts: bytes(request({ target, headers, body })),
  }));
}
