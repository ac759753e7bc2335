import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** How long a proxy's resolved name is believed: a container that is recreated gets another address. */
const NAME_TTL_MS = 30_000;

/**
 * Makes the function that tells a client's address. X-Forwarded-For counts only when the peer is a trusted
 * proxy, and then its last entry, which that proxy wrote itself.
 * @param trusted addresses, CIDR ranges and host names
 */
export function createClientAddress(
  trusted: readonly string[],
): (peer: string | undefined, forwardedFor: string | null) => Promise<string> {
  const ranges = new BlockList();
  const names: string[] = [];
  for (const entry of trusted) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (isIP(address) === 0) names.push(entry);
    else if (prefix === undefined) ranges.addAddress(address, family);
    else ranges.addSubnet(address, Number(prefix), family);
  }

  // A promise, so that requests that come while a name is being resolved wait for it and are not taken for strangers.
  let resolved: Promise<Set<string>> = Promise.resolve(new Set<string>());
  let resolvedAt = Number.NEGATIVE_INFINITY;
  async function isTrusted(peer: string): Promise<boolean> {
    if (ranges.check(peer, isIP(peer) === 6 ? 'ipv6' : 'ipv4')) return true;
    if (names.length === 0) return false;
    if (performance.now() - resolvedAt > NAME_TTL_MS) {
      resolvedAt = performance.now();
      resolved = addressesOf(names);
    }
    return (await resolved).has(peer);
  }

  return async (peer, forwardedFor) => {
    const own = (peer ?? 'unknown').replace(/^::ffff:/, '');
    const last = forwardedFor?.split(',').at(-1)?.trim();
    if (last === undefined || isIP(last) === 0 || isIP(own) === 0) return own;
    return (await isTrusted(own)) ? last : own;
  };
}

/** All addresses of the names; one that does not resolve has none. */
async function addressesOf(names: readonly string[]): Promise<Set<string>> {
  const answers = await Promise.allSettled(names.map((name) => lookup(name, { all: true })));
  return new Set(
    answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value.map(({ address }) => address) : [],
    ),
  );
}
