// DNS rebinding (CVE-2025-66414, -9611, -49596): a name is looked up for the check and once more for the connection,
// and the second answer is another one.
import { afterAll, beforeAll } from 'vitest';

import { ToolError } from '../../src/core/errors.ts';
import { type Egress, createEgress } from '../../src/net/egress.ts';
import { createFetchPolicy, enforce } from '../../src/tools/fetch-external/policy.ts';
import { type NameServer, openNameServer } from '../support/fetch-dns.ts';
import { type Site, openSite } from '../support/fetch-servers.ts';
import { prove, tries } from './row.ts';

/** Stands for the Internet, of which a test has none: the one address that is judged as public. */
const PUBLIC = '127.0.0.2';
const PRIVATE = '127.0.0.1';
const PRIVATE_V6 = '0:0:0:0:0:0:0:1';
const MAPPED = '0:0:0:0:0:ffff:7f00:1';

/** What a name answers at its nth look-up, by the first part of the name. */
const ANSWERS: Readonly<Record<string, (time: number) => readonly string[]>> = {
  // The check sees the good address, whatever looks again the other.
  flip: (time) => [time === 0 ? PUBLIC : PRIVATE],
  back: (time) => [time === 0 ? PRIVATE : PUBLIC],
  every: (time) => [time % 2 === 0 ? PUBLIC : PRIVATE],
  third: (time) => [time % 3 === 2 ? PRIVATE : PUBLIC],
  both: () => [PUBLIC, PRIVATE],
  other: () => [PRIVATE, PUBLIC],
  six: (time) => (time === 0 ? [PUBLIC] : [PRIVATE_V6]),
  // The good address in IPv4, the other in IPv6, which happy eyeballs tries first.
  dual: () => [PUBLIC, PRIVATE_V6],
  mapped: (time) => (time === 0 ? [PUBLIC] : [MAPPED]),
  none: (time) => (time === 0 ? [PUBLIC] : []),
};

let open: Site;
let hidden: Site;
let names: NameServer;

beforeAll(async () => {
  // Two machines on one port; the one that must not be reached answers in IPv6 too.
  open = await openSite((_, response) => response.end('good'), { host: PUBLIC });
  hidden = await openSite((_, response) => response.end('hidden'), { host: PRIVATE, port: open.port });
  names = await openNameServer((name, time) => ANSWERS[name.split('-')[0] ?? '']?.(time) ?? []);
});
afterAll(async () => {
  await names.close();
  await Promise.all([open.close(), hidden.close()]);
});

function egressTo(host: string): Egress {
  const policy = createFetchPolicy({ allowedDomains: [host], allowPrivateDomains: [] });
  return createEgress({
    vet: (url, address) => {
      if (address !== PUBLIC) enforce(policy.address(url, address));
    },
    resolve: (name) => names.resolve(name),
  });
}

prove(
  'fetch_external',
  'A name that changes its address between two look-ups leads nowhere else',
  async () => {
    const v6 = await openSite((_, response) => response.end('hidden'), { host: '::1', port: open.port });
    const failures: string[] = [];
    let answered = 0;
    let refused = 0;
    const total = tries(1000, 200);
    const kinds = Object.keys(ANSWERS);
    for (let index = 0; index < total; index += 1) {
      const host = `${kinds[index % kinds.length]}-${index}.test`;
      const egress = egressTo(host);
      // Three calls: on a new connection, on the one that is kept, and on a new one after a look-up of its own.
      for (const again of [egress, egress, egressTo(host)]) {
        const url = new URL(`http://${host}:${open.port}/`);
        const signal = AbortSignal.timeout(10_000);
        const outcome = await again
          .send({ url, method: 'GET', headers: {}, signal })
          .then(({ body }) => body.text())
          .catch((error: unknown) => codeOf(error));
        if (outcome === 'good') answered += 1;
        else if (outcome === 'address_not_allowed' || outcome === 'ENOTFOUND') refused += 1;
        else failures.push(`${host}: ${outcome}`);
        if (again !== egress) await again.close();
      }
      await egress.close();
    }
    const reached = hidden.connections() + v6.connections();
    if (reached > 0) failures.push(`${reached} connections to a private address`);
    if (answered === 0 || refused === 0) failures.push(`${answered} answered and ${refused} refused`);
    await v6.close();
    return {
      tries: total,
      failures,
      figures: `${answered} calls answered by the public address, ${refused} refused, ${reached} connections to another`,
    };
  },
);

function codeOf(error: unknown): string {
  if (error instanceof ToolError) return error.code;
  return (error as { code?: string }).code ?? String(error);
}
