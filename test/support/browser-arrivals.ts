import { type Lab } from './browser-lab.ts';
import { until } from './until.ts';

/** Connections that the containers of a lab have accepted or opened, as their kernels count them. */
export interface Arrivals {
  server: number;
  caddy: number;
  /** The debugging port and its relay, loopback included. */
  chromium: number;
  /** What the proxy opened beyond its connections to the site that pages may open. */
  elsewhere: number;
}

/** A lab whose arrivals are counted: with Caddy, and a site on the mesh. */
export const COUNTED = { files: ['test/support/browser-prove.compose.yml'], services: ['caddy'] };

/** @returns a function that counts, all of it since the containers started */
export async function countArrivals(lab: Lab): Promise<() => Promise<Arrivals>> {
  const site = await lab.address('pages', 'site');
  const proxy = await Promise.all([lab.address('egress', 'site'), lab.address('egress', 'mesh')]);
  return async () => {
    const [server, caddy, chromium, egress, answer] = await Promise.all([
      tcp(lab, 'server'),
      tcp(lab, 'caddy'),
      tcp(lab, 'chromium'),
      tcp(lab, 'egress'),
      fetch(`http://${site}/connections`),
    ]);
    const from = (await answer.json()) as Record<string, number>;
    const toSite = proxy.reduce((sum, address) => sum + (from[address] ?? 0), 0);
    return {
      server: server.PassiveOpens,
      caddy: caddy.PassiveOpens,
      chromium: chromium.PassiveOpens,
      elsewhere: egress.ActiveOpens - toSite,
    };
  };
}

async function tcp(lab: Lab, service: string): Promise<{ PassiveOpens: number; ActiveOpens: number }> {
  const text = await lab.docker('exec', lab.container(service), 'cat', '/proc/net/snmp');
  const [names = [], values = []] = text
    .split('\n')
    .filter((line) => line.startsWith('Tcp:'))
    .map((line) => line.split(' '));
  const value = (name: string) => Number(values[names.indexOf(name)]);
  return { PassiveOpens: value('PassiveOpens'), ActiveOpens: value('ActiveOpens') };
}

/** What reached the site under a name that the operator did not allow, or at a port of a target. */
export async function forbiddenHits(lab: Lab): Promise<string[]> {
  const own = /^(?:http|upgrade) (?:pages|127\.0\.0\.1|10\.213\.\d+\.200 \/(?:hits|gate|connections))/;
  return (await lab.hits()).filter((hit) => !own.test(hit));
}

/** Lets the hostile page of a session begin, and resolves with how often it tried and what it says it reached. */
export async function attack(
  lab: Lab,
  targets: readonly string[],
): Promise<{ tried: number; reached: string[] }> {
  const site = await lab.address('pages', 'site');
  const known = (await lab.hits()).length;
  await until('the page began', async () => {
    const answer = await fetch(`http://${site}/gate/open`);
    return (await answer.text()) !== '0';
  });
  let report: string | undefined;
  await until(
    `a report on ${targets.length} targets`,
    async () => {
      report = (await lab.hits()).slice(known).find((hit) => hit.includes('/report?'));
      return report !== undefined;
    },
    60 + 10 * targets.length,
  );
  const query = new URL(String(report?.split(' ').at(-1)), 'http://pages').searchParams;
  return { tried: Number(query.get('tried')), reached: JSON.parse(String(query.get('reached'))) as string[] };
}
