import { describe, expect, it } from 'vitest';

import { cameByHttps, fromOwnPage } from './origin.ts';

const HOST = 'mcp.example.org';

// Consoles of home servers were driven by any page that their owner visited: cookies alone don't tell who asks.
describe('a request that changes something', () => {
  it.each<[string, boolean, Record<string, string>]>([
    ['its own page', true, { host: 'localhost:3000', origin: 'http://localhost:3000' }],
    [
      'the public host, where a proxy changed Host',
      true,
      { host: 'server:3000', origin: 'https://mcp.example.org' },
    ],
    ['the public host on another port', true, { host: 'x', origin: 'https://mcp.example.org:8443' }],
    ['a program without an origin', true, { host: 'localhost:3000' }],
    ['another site', false, { host: 'mcp.example.org', origin: 'https://evil.example' }],
    ['another port of this machine', false, { host: 'localhost:3000', origin: 'http://localhost:8080' }],
    [
      'a site with the public host in its name',
      false,
      { host: 'x', origin: 'https://mcp.example.org.evil.example' },
    ],
    ['the public host without TLS', false, { host: 'server:3000', origin: 'http://mcp.example.org' }],
    ['a sandboxed frame', false, { host: 'localhost:3000', origin: 'null' }],
    [
      'a browser that says it is another site',
      false,
      { host: 'localhost:3000', 'sec-fetch-site': 'cross-site' },
    ],
    ['a neighbouring subdomain', false, { host: 'localhost:3000', 'sec-fetch-site': 'same-site' }],
    ['its own page, told twice', true, { host: 'a', origin: 'http://a', 'sec-fetch-site': 'same-origin' }],
  ])('from %s: %s', (_, own, headers) => {
    expect(fromOwnPage(new Headers(headers), HOST)).toBe(own);
  });
});

describe('HTTPS in front', () => {
  it.each<[boolean, string, Record<string, string>]>([
    [true, HOST, { 'x-forwarded-proto': 'https', host: 'localhost' }],
    [true, HOST, { host: 'MCP.example.org:443' }],
    [false, HOST, { host: '100.101.0.9:3000' }],
    [false, 'localhost', { host: 'localhost:3000' }],
    [false, 'localhost', { 'x-forwarded-proto': 'http', host: 'localhost:3000' }],
  ])('%s for %s and %o', (https, publicHost, headers) => {
    expect(cameByHttps(new Headers(headers), publicHost)).toBe(https);
  });
});
