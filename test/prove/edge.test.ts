import { randomBytes } from 'node:crypto';

import { container, docker, post, stack } from '../support/stack.ts';
import { callOf, type Door, DOORS, eachOf, exchange, reached, statusesOf } from './lib/edge-doors.ts';
import { prove, tries } from './row.ts';
import { credentialVariants, validVariants } from './vectors/edge-credentials.ts';
import { h2Variants } from './vectors/edge-h2.ts';
import type { Variant } from './vectors/edge-request.ts';
import { routeVariants } from './vectors/edge-routes.ts';
import { framingVariants } from './vectors/framing.ts';

const AT_ONCE = 16;

type Make = (secret: string, body: string) => Variant[];

interface Outcome {
  tries: number;
  failures: string[];
  /** The statuses that came back, by how often each did. */
  statuses: Map<string, number>;
  /** The variants whose call reached the audit log or the device. */
  ran: string[];
}

/** Sends each variant, or every so many of them, with a marker of its own; each is followed by a good request. */
async function send(make: Make, door: Door, every = 1, protocol?: string): Promise<Outcome> {
  const prefix = `edge-${randomBytes(4).toString('hex')}-`;
  const first = Math.floor(Math.random() * every);
  const failures: string[] = [];
  const statuses = new Map<string, number>();
  const names = new Map<string, string>();
  const markers = Array.from(make(stack.secret, ''), (_, at) => at).filter((at) => at % every === first);
  await eachOf(markers, AT_ONCE, async (at) => {
    const marker = `${prefix}${at}`;
    const variant = make(stack.secret, callOf(marker))[at];
    if (variant === undefined) throw new Error(`no variant ${at}`);
    const name = `${door}, ${variant.kind}: ${variant.name}`;
    names.set(marker, name);
    const seen = statusesOf(await exchange(door, variant.parts, { protocol }));
    for (const status of seen.length > 0 ? seen.map(String) : ['none']) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    // 501 and 505 are HTTP's own words for a coding and a version that are not served.
    const broken = seen.filter((status) => status >= 500 && status !== 501 && status !== 505);
    if (broken.length > 0) failures.push(`${name}: answered ${broken.join(', ')}`);
    if (!(await answersItsOwn(marker))) failures.push(`${name}: the next request got another answer`);
  });
  const ran = (await reached(prefix)).map((marker) => names.get(marker) ?? marker);
  return { tries: markers.length, failures, statuses, ran };
}

/** A good request through Caddy, whose connections to the server the attacks share. */
async function answersItsOwn(id: string): Promise<boolean> {
  const response = await post({ jsonrpc: '2.0', id, method: 'ping' });
  const answer = (await response.json()) as { id?: unknown; result?: unknown };
  return response.status === 200 && answer.id === id && JSON.stringify(answer.result) === '{}';
}

async function attack(make: Make, doors: readonly Door[], every: number, protocol?: string) {
  const outcomes: Outcome[] = [];
  for (const door of doors) outcomes.push(await send(make, door, every, protocol));
  const figures = outcomes.map(({ statuses }, at) => {
    const counts = [...statuses]
      .sort(([one], [two]) => one.localeCompare(two))
      .map(([status, count]) => `${count} × ${status}`);
    return `${doors[at]}: ${counts.join(', ')}`;
  });
  return {
    tries: outcomes.reduce((sum, outcome) => sum + outcome.tries, 0),
    failures: outcomes.flatMap(({ failures, ran }) => [
      ...ran.map((name) => `${name}: the call ran`),
      ...failures,
    ]),
    figures: figures.join('; '),
  };
}

// First what does get in: where it leaves no trace, the rows below would prove nothing.
prove('edge', 'With the secret, in the query or a header, a request reaches a tool', async () => {
  const outcomes = [await send(validVariants, 'caddy'), await send(validVariants, 'port')];
  return {
    tries: outcomes.reduce((sum, outcome) => sum + outcome.tries, 0),
    failures: outcomes.flatMap(({ tries: sent, ran, failures }) =>
      ran.length === sent ? failures : [`only ${ran.join('; ')}`, ...failures],
    ),
  };
});

prove('edge', 'Without exactly the secret no request reaches a tool', () =>
  attack(credentialVariants, DOORS, tries(1, 6)),
);

prove('edge', 'No other path, method, host or origin is a way to a tool', () =>
  attack(routeVariants, DOORS, tries(1, 6)),
);

prove('edge', 'A request whose end is in dispute runs nothing, and neither does one hidden in it', () =>
  attack(framingVariants, DOORS, tries(1, 10)),
);

prove(
  'edge',
  'HTTP/2 frames run nothing without the secret, whatever Caddy makes of them for the server',
  () => attack(h2Variants, ['caddy'], tries(1, 8), 'h2'),
);

// After all of the above, in which the secret stood in every place that clients mistake for the right one.
prove('edge', 'No log holds the secret, however a request misspells it', async () => {
  const failures: string[] = [];
  let lines = 0;
  for (const service of ['caddy', 'server']) {
    const log = (await docker('logs', container(service))).trim().split('\n');
    lines += log.length;
    const holds = log.filter((line) => line.toLowerCase().includes(stack.secret.slice(0, 32)));
    failures.push(
      ...holds.map((line) => `${service}: ${line.toLowerCase().replaceAll(stack.secret, '…').slice(0, 300)}`),
    );
  }
  return { tries: lines, failures, figures: `${lines} lines of log` };
});
