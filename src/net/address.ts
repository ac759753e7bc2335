import ipaddr from 'ipaddr.js';

/**
 * What an IP address reaches. Only `public` is the Internet; every other kind is a way into a network that the
 * caller may not have meant. `metadata` are the fixed addresses where clouds hand out credentials.
 */
export type AddressKind =
  | 'public'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'cgnat'
  | 'unique-local'
  | 'site-local'
  | 'multicast'
  | 'broadcast'
  | 'unspecified'
  | 'reserved'
  | 'translated'
  | 'metadata'
  | 'invalid';

type Address = ReturnType<typeof ipaddr.parse>;

/** AWS, GCP, Azure, OpenStack (169.254…, fd00:ec2…, fd20:ce…), Azure's wire server, Alibaba, Oracle. */
const METADATA = new Set(
  [
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
  ].map((address) => ipaddr.parse(address).toString()),
);

/** The names of ipaddr.js's ranges; a range it learns later is `reserved` until it is named here. */
const KINDS: Readonly<Record<string, AddressKind>> = {
  unicast: 'public',
  loopback: 'loopback',
  private: 'private',
  linkLocal: 'link-local',
  carrierGradeNat: 'cgnat',
  uniqueLocal: 'unique-local',
  deprecatedSiteLocal: 'site-local',
  multicast: 'multicast',
  broadcast: 'broadcast',
  unspecified: 'unspecified',
  rfc6052: 'translated',
  rfc6145: 'translated',
  '6to4': 'translated',
  teredo: 'translated',
};

/** IPv6 that is routed on the Internet is all in here; anything else is unassigned or special. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** Carries an IPv4 address in its last 32 bits; deprecated, but some stacks still route it. */
const V4_COMPATIBLE = ipaddr.IPv6.parseCIDR('::/96');

/** Classifies the text of an address as a resolver or a socket gives it; `invalid` for anything else. */
export function classifyAddress(text: string): AddressKind {
  // A zone (fe80::1%eth0) names an interface of this machine, which no public address needs.
  if (!ipaddr.isValid(text) || text.includes('%')) return 'invalid';
  // ipaddr.js reads ::1.2.3.4 as ::ffff:1.2.3.4, which is another address.
  const compatible = /^::(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1];
  if (compatible !== undefined) return classifyAddress(compatible) === 'metadata' ? 'metadata' : 'translated';
  return classify(ipaddr.parse(text));
}

function classify(address: Address): AddressKind {
  if (METADATA.has(address.toString())) return 'metadata';
  if (!(address instanceof ipaddr.IPv6)) return KINDS[address.range()] ?? 'reserved';
  if (address.isIPv4MappedAddress()) return classify(address.toIPv4Address());
  const kind = KINDS[address.range()] ?? 'reserved';
  const embedded = embeddedIPv4(address, kind);
  if (embedded !== undefined && METADATA.has(embedded.toString())) return 'metadata';
  if (kind === 'public' && address.match(V4_COMPATIBLE)) return 'translated';
  return kind === 'public' && !address.match(GLOBAL_UNICAST) ? 'reserved' : kind;
}

/** The IPv4 address that a translator (NAT64, 6to4, Teredo) would send the packets on to. */
function embeddedIPv4(address: ipaddr.IPv6, kind: AddressKind): Address | undefined {
  const bytes = address.toByteArray();
  const range = address.range();
  if (range === '6to4') return ipaddr.fromByteArray(bytes.slice(2, 6));
  if (range === 'teredo') return ipaddr.fromByteArray(bytes.slice(12).map((byte) => byte ^ 0xff));
  const isTail = kind === 'translated' || address.match(V4_COMPATIBLE);
  return isTail ? ipaddr.fromByteArray(bytes.slice(12)) : undefined;
}

/** Whether two texts are the same address: `::FFFF:1.2.3.4` and `1.2.3.4` are. */
export function isSameAddress(one: string, other: string): boolean {
  if (!ipaddr.isValid(one) || !ipaddr.isValid(other)) return false;
  return ipaddr.process(one).toString() === ipaddr.process(other).toString();
}

/** The address that a URL's hostname is, or undefined when it is a name. WHATWG URLs have folded all spellings. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return ipaddr.IPv6.isValid(bare) || ipaddr.IPv4.isValidFourPartDecimal(bare) ? bare : undefined;
}
