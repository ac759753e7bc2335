import { randomBytes } from 'node:crypto';

import { afterAll, beforeAll } from 'vitest';

import { type Arrivals, COUNTED, attack, countArrivals, forbiddenHits } from '../support/browser-arrivals.ts';
import { type Answer, type Lab, startLab } from '../support/browser-lab.ts';
import { until } from '../support/until.ts';
import { prove, tries, whole } from './row.ts';
import { LOCAL_URLS, REDIRECTS, targetsOf } from './vectors/browser-targets.ts';

let lab: Lab;
let count: () => Promise<Arrivals>;
let targets: string[];

beforeAll(async () => {
  lab = await startLab(COUNTED);
  // In this lab nobody waits for Chromium to be healthy.
  await until('the lab answers', async () => !(await lab.open('/')).isError);
  const gateway = (network: string) =>
    lab.docker(
      'network',
      'inspect',
      `${project}_${network}`,
      '--format',
      '{{(index .IPAM.Config 0).Gateway}}',
    );
  const project = lab.container('server').replace('-server-1', '');
  const [server, chromium, egress, caddy, site, mesh, web, outside, port] = await Promise.all([
    lab.address('server', 'browser'),
    lab.address('chromium', 'browser'),
    lab.address('egress', 'browsing'),
    lab.address('caddy', 'edge'),
    lab.address('pages', 'site'),
    lab.address('pages', 'mesh'),
    gateway('web'),
    gateway('outside'),
    lab.docker('port', lab.container('caddy'), '443/tcp'),
  ]);
  const httpsPort = /:(\d+)/.exec(port)?.[1] ?? '';
  const gateways = [web, outside, '172.17.0.1'];
  targets = targetsOf({ server, chromium, egress, caddy, site, mesh, gateways, httpsPort });
  count = await countArrivals(lab);
});
afterAll(() => lab?.stop());

/** Some of a list, from all over it. */
const some = <T>(list: readonly T[], few: number): T[] => {
  const step = whole ? 1 : Math.ceil(list.length / few);
  return list.filter((_, at) => at % step === 0);
};

/** One text for each container that something arrived at between two counts. */
const arrived = (before: Arrivals, after: Arrivals): string[] =>
  (Object.keys(before) as (keyof Arrivals)[])
    .filter((at) => after[at] !== before[at])
    .map((at) => `${after[at] - before[at]} connections: ${at}`);

prove(
  'browser',
  'A hostile page reaches nothing but public addresses and the hosts the operator named',
  async () => {
    const failures: string[] = [];
    let tried = 0;
    const chosen = some(targets, 4);
    for (let at = 0; at < chosen.length; at += 16) {
      const part = chosen.slice(at, at + 16);
      const query = encodeURIComponent(JSON.stringify(part));
      const opened = await lab.open(`/hostile?gated=1&targets=${query}`, 'hostile');
      if (opened.isError) failures.push(`the page was not opened: ${opened.value.error?.message}`);
      const before = await count();
      const report = await attack(lab, part);
      failures.push(...report.reached, ...arrived(before, await count()));
      tried += report.tried;
      await lab.call({ action: 'close', session: 'hostile' });
    }
    failures.push(...(await forbiddenHits(lab)));
    return {
      tries: tried,
      failures,
      figures: `${chosen.length} targets, ${tried / chosen.length} ways each`,
    };
  },
);

prove(
  'browser',
  'A URL or a redirect to such an address is an error that says so, and nothing is reached',
  async () => {
    const failures: string[] = [];
    const before = await count();
    const calls: [string, () => Promise<Answer>][] = some(targets, 4).flatMap((url) => [
      [`open ${url}`, () => lab.call({ action: 'open', url, session: 'led' })],
      ...some(REDIRECTS, 2).map((by): [string, () => Promise<Answer>] => [
        `${by} ${url}`,
        () => lab.open(`${by}?url=${encodeURIComponent(url)}`, 'led'),
      ]),
    ]);
    for (const [what, run] of calls) {
      let { value } = await run();
      // A page may be left before it has sent its visitor on; what is shown then is told by the next call.
      await until(
        'the page has moved',
        async () => {
          if (value.error === undefined) ({ value } = await lab.call({ action: 'text', session: 'led' }));
          return value.error !== undefined;
        },
        5,
      ).catch(() => {
        // Where the browser cannot read the address, the page stays, or an empty one takes its place.
        if (!/^(?:http:\/\/pages\/|about:blank)/.test(value.url ?? ''))
          failures.push(`${what}: shown as a page`);
      });
      if (value.error && !['address_not_allowed', 'upstream_error'].includes(value.error.code)) {
        failures.push(`${what}: ${value.error.code}`);
      }
    }
    await lab.call({ action: 'close', session: 'led' });
    const after = await count();
    failures.push(...arrived({ ...before, server: 0, chromium: 0 }, { ...after, server: 0, chromium: 0 }));
    failures.push(...(await forbiddenHits(lab)));
    return { tries: calls.length, failures };
  },
);

prove(
  'browser',
  'No URL leads to files, to the browser’s own pages or to a script of the URL’s own',
  async () => {
    const failures: string[] = [];
    let tried = 0;
    for (const url of some(LOCAL_URLS, 4)) {
      const direct = await lab.call({ action: 'open', url, session: 'local' });
      if (direct.value.error?.code !== 'invalid_input') failures.push(`open ${url}: opened`);
      tried++;
      for (const by of some([...REDIRECTS, '/link-to'], 2)) {
        tried++;
        const patience = { session: 'local', timeout_seconds: 5 };
        await lab.call({
          action: 'open',
          url: `http://pages${by}?url=${encodeURIComponent(url)}`,
          ...patience,
        });
        if (by === '/link-to') await lab.call({ action: 'click', ref: 'a', ...patience });
        const { value } = await lab.call({ action: 'text', ...patience });
        const said = JSON.stringify(value);
        // A script of a javascript: URL runs in the page that named it, and is as confined as it.
        const outside = !/^(?:https?:|about:blank|chrome-error:|$)/.test(value.url ?? '');
        if (
          outside ||
          /root:x:0|daemon:x:1|MCP_SECRET|webSocketDebuggerUrl|Command Line/.test(said.replace(url, ''))
        ) {
          if (!url.includes('root:x')) failures.push(`${by} ${url}: shown`);
        }
      }
      await lab.call({ action: 'close', session: 'local' });
    }
    failures.push(...(await forbiddenHits(lab)));
    return { tries: tried, failures };
  },
);

prove(
  'browser',
  'A name that changes its address to a private one between look-ups leads nowhere',
  async () => {
    const names = tries(1000, 20);
    const mark = randomBytes(4).toString('hex');
    const failures: string[] = [];
    const before = await count();
    for (let at = 0; at < names; at += 100) {
      await lab.open('/');
      const script = `Promise.all(Array.from({ length: ${Math.min(100, names - at)} }, (_, i) => {
      const url = 'http://flip' + (${at} + i) + '-${mark}.test/';
      const ask = () => fetch(url, { mode: 'no-cors', signal: AbortSignal.timeout(2000) }).catch(() => {});
      return ask().then(ask).then(ask);
    })).then(() => 'done')`;
      const { value } = await lab.call({ action: 'eval', value: script, timeout_seconds: 110 });
      if (value['result'] !== 'done')
        failures.push(`names from ${at} were not tried: ${value.error?.message}`);
    }
    const after = await count();
    const { caddy, server } = before;
    if (after.caddy !== caddy || after.server < server) failures.push('something arrived at Caddy');
    failures.push(...(await forbiddenHits(lab)));
    return { tries: names * 3, failures };
  },
);
