import { describe, expect, it } from 'vitest';

import { createClientAddress } from './client-address.ts';

describe('createClientAddress', () => {
  it.each([
    ['no proxy is trusted', [], '127.0.0.1', '203.0.113.9', '127.0.0.1'],
    ['another peer', ['10.0.0.1', '192.168.0.0/16'], '10.0.0.2', '203.0.113.9', '10.0.0.2'],
    ['a trusted address', ['10.0.0.1'], '10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['a trusted range', ['192.168.0.0/16'], '192.168.7.7', '203.0.113.9', '203.0.113.9'],
    ['a peer mapped into IPv6', ['10.0.0.1'], '::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['the last entry counts', ['10.0.0.1'], '10.0.0.1', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['no address in it', ['10.0.0.1'], '10.0.0.1', 'unknown', '10.0.0.1'],
    ['none at all', ['10.0.0.1'], '10.0.0.1', null, '10.0.0.1'],
  ])('%s', async (_, trusted, peer, forwardedFor, expected) => {
    expect(await createClientAddress(trusted)(peer, forwardedFor)).toBe(expected);
  });

  // The first requests after a start came while the proxy's name was being resolved, and were recorded as its own.
  it('requests at once, before a proxy’s name is resolved', async () => {
    const addressOf = createClientAddress(['localhost']);
    const both = await Promise.all([
      addressOf('127.0.0.1', '203.0.113.9'),
      addressOf('127.0.0.1', '203.0.113.10'),
    ]);
    expect(both).toEqual(['203.0.113.9', '203.0.113.10']);
  });
});
