/**
 * Redirects, by what the second host is to the first. Fetchers have judged the first URL and followed the rest, kept
 * credentials across hosts (undici's fetch forwards x-api-key and private-token), and kept them from HTTPS to HTTP.
 *
 * `API` is the host that has a token, `OTHER` another one that is allowed, `FORBIDDEN` one that is not; `SECOND` is
 * another port of the first host and `PLAIN` a port of it that speaks HTTP; `SUBDOMAIN` and `ALIKE` are names near to it.
 * Each stands for `host:port`.
 */
export interface Matrix {
  name: string;
  /** Values of Location at /start, and after it at /1, /2, …; a list is sent as one header each. */
  hops: readonly (string | readonly string[])[];
  /** Who answers in the end; or the code of the refusal. */
  ends:
    | 'api'
    | 'second'
    | 'plain'
    | 'other'
    | 'invalid_input'
    | 'domain_not_allowed'
    | 'address_not_allowed'
    | 'upstream_error';
}

export const MATRICES: readonly Matrix[] = [
  { name: 'another host', hops: ['https://OTHER/landed'], ends: 'other' },
  { name: 'another host without a scheme', hops: ['//OTHER/landed'], ends: 'other' },
  { name: 'another host with backslashes', hops: ['\\\\OTHER/landed'], ends: 'other' },
  { name: 'another host with slash and backslash', hops: ['/\\OTHER/landed'], ends: 'other' },
  { name: 'another host with tabs', hops: ['https:/\t/OTHER/landed'], ends: 'other' },
  { name: 'another host with one slash too many', hops: ['https:///OTHER/landed'], ends: 'other' },
  { name: 'another port', hops: ['https://SECOND/landed'], ends: 'second' },
  { name: 'another scheme', hops: ['http://PLAIN/landed'], ends: 'plain' },
  { name: 'the same host in capitals', hops: ['HTTPS://API_CAPITALS/landed'], ends: 'api' },
  { name: 'a path', hops: ['/landed'], ends: 'api' },
  { name: 'a relative path', hops: ['landed'], ends: 'api' },
  { name: 'a path that climbs', hops: ['../../../landed'], ends: 'api' },
  { name: 'a query', hops: ['?landed'], ends: 'api' },
  { name: 'there and back', hops: ['https://OTHER/1', 'https://API/landed'], ends: 'api' },
  { name: 'by two hosts', hops: ['https://SECOND/1', 'https://OTHER/landed'], ends: 'other' },
  { name: 'by plain HTTP', hops: ['http://PLAIN/1', 'https://OTHER/landed'], ends: 'other' },
  { name: 'five hops', hops: ['/1', '/2', '/3', '/4', 'https://OTHER/landed'], ends: 'other' },
  { name: 'six hops', hops: ['/1', '/2', '/3', '/4', '/5', 'https://OTHER/landed'], ends: 'upstream_error' },
  { name: 'a circle', hops: ['/start'], ends: 'upstream_error' },
  { name: 'a circle of two hosts', hops: ['https://OTHER/1', 'https://API/start'], ends: 'upstream_error' },
  { name: 'two Locations', hops: [['https://OTHER/landed', 'https://FORBIDDEN/']], ends: 'other' },
  { name: 'a forbidden host', hops: ['https://FORBIDDEN/'], ends: 'domain_not_allowed' },
  {
    name: 'a forbidden host at the second hop',
    hops: ['/1', 'https://FORBIDDEN/'],
    ends: 'domain_not_allowed',
  },
  {
    name: 'a forbidden host from another',
    hops: ['https://OTHER/1', '//FORBIDDEN/'],
    ends: 'domain_not_allowed',
  },
  { name: 'a subdomain', hops: ['https://SUBDOMAIN/'], ends: 'domain_not_allowed' },
  { name: 'a host that ends alike', hops: ['https://ALIKE/'], ends: 'domain_not_allowed' },
  { name: 'a trailing dot', hops: ['https://api.test.:FORBIDDEN_PORT/'], ends: 'domain_not_allowed' },
  { name: 'loopback', hops: ['https://127.0.0.1:FORBIDDEN_PORT/'], ends: 'domain_not_allowed' },
  { name: 'loopback in hexadecimal', hops: ['https://0x7f.1:FORBIDDEN_PORT/'], ends: 'domain_not_allowed' },
  { name: 'loopback in IPv6', hops: ['https://[::ffff:7f00:1]:FORBIDDEN_PORT/'], ends: 'domain_not_allowed' },
  { name: 'metadata', hops: ['http://169.254.169.254/latest/'], ends: 'domain_not_allowed' },
  {
    name: 'an allowed name of a private address',
    hops: ['https://inner.test:FORBIDDEN_PORT/'],
    ends: 'address_not_allowed',
  },
  { name: 'a password', hops: ['https://user:pass@OTHER/'], ends: 'invalid_input' },
  { name: 'the first host as a user name', hops: ['https://api.test@FORBIDDEN/'], ends: 'invalid_input' },
  { name: 'a file', hops: ['file:///etc/passwd'], ends: 'invalid_input' },
  { name: 'data', hops: ['data:text/plain,hello'], ends: 'invalid_input' },
  { name: 'a script', hops: ['javascript:alert(1)'], ends: 'invalid_input' },
  { name: 'FTP', hops: ['ftp://OTHER/'], ends: 'invalid_input' },
  { name: 'a broken address', hops: ['https://[::1'], ends: 'upstream_error' },
  { name: 'the token in a query', hops: ['https://OTHER/?t=TOKEN'], ends: 'upstream_error' },
  { name: 'the token in a path, in base64', hops: ['https://OTHER/TOKEN_BASE64'], ends: 'upstream_error' },
  { name: 'the token in a name', hops: ['https://TOKEN.OTHER/'], ends: 'upstream_error' },
  { name: 'the token at the second hop', hops: ['/1', '//OTHER/#TOKEN_HEX'], ends: 'upstream_error' },
];
