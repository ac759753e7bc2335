// Address filters have been passed by v4-mapped IPv6 (CVE-2026-49857), NAT64 and 6to4 forms, and by ranges that
// nobody thought of (CGNAT, where mesh networks live).
import { describe, expect, it } from 'vitest';

import { classifyAddress, isSameAddress, literalAddress } from './address.ts';

describe('classifyAddress', () => {
  it.each([
    ['8.8.8.8', 'public'],
    ['1.1.1.1', 'public'],
    ['172.15.255.255', 'public'],
    ['172.32.0.0', 'public'],
    ['100.63.255.255', 'public'],
    ['100.128.0.0', 'public'],
    ['2606:4700:4700::1111', 'public'],
    ['2a00:1450:4001:80b::200e', 'public'],
    ['::ffff:8.8.8.8', 'public'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['::ffff:192.168.1.1', 'private'],
    ['169.254.1.1', 'link-local'],
    ['fe80::1', 'link-local'],
    ['febf::1', 'link-local'],
    ['100.64.0.1', 'cgnat'],
    ['100.101.102.103', 'cgnat'],
    ['100.127.255.255', 'cgnat'],
    ['fc00::1', 'unique-local'],
    ['fd7a:115c:a1e0::1', 'unique-local'],
    ['fec0::1', 'site-local'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['ff02::1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['::', 'unspecified'],
    ['192.0.0.1', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['198.51.100.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['192.88.99.1', 'reserved'],
    ['192.31.196.1', 'reserved'],
    ['192.52.193.1', 'reserved'],
    ['240.0.0.1', 'reserved'],
    ['100::1', 'reserved'],
    ['2001:2::1', 'reserved'],
    ['2001:10::1', 'reserved'],
    ['2001:20::1', 'reserved'],
    ['2001:db8::1', 'reserved'],
    ['3fff::1', 'reserved'],
    ['5f00::1', 'reserved'],
    ['4000::1', 'reserved'],
    ['64:ff9b::8.8.8.8', 'translated'],
    ['64:ff9b::7f00:1', 'translated'],
    ['64:ff9b:1::7f00:1', 'translated'],
    ['::ffff:0:127.0.0.1', 'translated'],
    ['::127.0.0.1', 'translated'],
    ['::8.8.8.8', 'translated'],
    ['::808:808', 'translated'],
    ['2002:7f00:1::', 'translated'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'translated'],
    ['169.254.169.254', 'metadata'],
    ['169.254.170.2', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['fd20:ce::254', 'metadata'],
    ['::ffff:169.254.169.254', 'metadata'],
    ['64:ff9b::a9fe:a9fe', 'metadata'],
    ['64:ff9b:1::a9fe:a9fe', 'metadata'],
    ['2002:a9fe:a9fe::1', 'metadata'],
    ['2001:0:4136:e378:8000:63bf:5601:5601', 'metadata'],
    ['::169.254.169.254', 'metadata'],
    ['fe80::1%eth0', 'invalid'],
    ['example.org', 'invalid'],
    ['', 'invalid'],
  ])('%s is %s', (address, kind) => {
    expect(classifyAddress(address)).toBe(kind);
  });
});

describe('isSameAddress', () => {
  it.each([
    ['127.0.0.1', '::ffff:127.0.0.1', true],
    ['2001:DB8:0::1', '2001:db8::1', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['127.0.0.1', '', false],
  ])('%s and %s: %s', (one, other, same) => {
    expect(isSameAddress(one, other)).toBe(same);
  });
});

describe('literalAddress', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['[::1]', '::1'],
    ['example.org', undefined],
    ['127.1.example.org', undefined],
    ['cafe', undefined],
  ])('of %s is %s', (hostname, address) => {
    expect(literalAddress(hostname)).toBe(address);
  });
});
