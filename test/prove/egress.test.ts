// A page under someone else's control has driven browsers behind a firewall to routers, metadata services and the
// server's own door. Chromium has no other way out than the proxy, so what the proxy refuses is the boundary. Here it
// has networks that the composed one has not: IPv6, a public address of its owner's, and another one that may be reached.
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';

import { afterAll, beforeAll } from 'vitest';

import { docker, inside, stack } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { prove } from './row.ts';
import { FOLDED, FORBIDDEN_V4, FORBIDDEN_V6, NEVER, V4_SPELLINGS } from './vectors/urls.ts';

const ID = randomInt(256);
/** Addresses that count as public, on a network that leads nowhere. */
const OPEN_V4 = `93.184.${ID}`;
const OPEN_V6 = `2606:2800:220:${ID.toString(16)}:`;
const PRIVATE_V4 = `10.251.${ID}`;
const PRIVATE_V6 = `fd00:dead:${ID.toString(16)}:`;
const NODE = process.env['NODE_IMAGE'] ?? 'node:24-trixie-slim';
const name = (part: string) => `${stack.project}-proxy-${part}`;

interface Answer {
  method: string;
  target: string;
  status: number;
  error: string;
}

beforeAll(async () => {
  const network = (part: string, v4: string, v6: string) =>
    docker(
      ...['network', 'create', '--internal', '--ipv6', '--subnet', `${v4}.0/24`, '--subnet', `${v6}:/64`],
      name(part),
    );
  await network('open', OPEN_V4, OPEN_V6);
  await network('private', PRIVATE_V4, PRIVATE_V6);
  // `site` may be reached at its public addresses; `own` bears the server's own public name and address.
  for (const [part, host] of Object.entries({ site: 10, own: 20 })) {
    await docker(
      ...['run', '--detach', '--name', name(part), '--network', name('open')],
      ...['--ip', `${OPEN_V4}.${host}`, '--ip6', `${OPEN_V6}:${host}`],
      ...['--volume', `${process.cwd()}/test/prove/lib/proxy-site.mjs:/site.mjs:ro`],
      ...['--env', `PROXY=${OPEN_V4}.30`, NODE, 'node', '/site.mjs', 'serve'],
    );
    await docker(
      ...['network', 'connect', '--ip', `${PRIVATE_V4}.${host}`, '--ip6', `${PRIVATE_V6}:${host}`],
      ...[name('private'), name(part)],
    );
  }
  const hosts = Object.entries(NAMES).flatMap(([host, addresses]) =>
    addresses.flatMap((address) => ['--add-host', `${host}:${address}`]),
  );
  // Created, connected and only then started: the engine writes the hosts file anew for each network, and the proxy,
  // which reads it once, would now and then find it empty and know none of the names.
  await docker(
    ...['create', '--name', name('egress'), '--network', name('open'), '--ip', `${OPEN_V4}.30`],
    // Any other name is asked of nobody.
    ...[
      '--dns',
      '127.0.0.1',
      '--ip6',
      `${OPEN_V6}:30`,
      '--read-only',
      '--cap-drop',
      'ALL',
      '--tmpfs',
      '/tmp',
    ],
    ...['--tmpfs', '/run/egress:uid=10004,gid=10004,mode=700', ...hosts],
    ...['--env', 'PUBLIC_HOST=own.test', '--env', 'BROWSER_ALLOWED_PRIVATE_HOSTS=nas.test,meta.test'],
    // The configuration that is tried is the one that stands here, whatever the image was built from.
    ...['--volume', `${process.cwd()}/deploy/egress/squid.conf:/etc/egress/squid.conf:ro`],
    'remote-tool-server/egress:0.1.0',
  );
  await docker('network', 'connect', '--ip', `${PRIVATE_V4}.30`, name('private'), name('egress'));
  await docker('start', name('egress'));
  await until('the proxy answers', async () => (await ask(['GET /']))[0]?.status === 400);
});
afterAll(async () => {
  await docker('rm', '--force', name('site'), name('own'), name('egress'));
  await docker('network', 'rm', name('open'), name('private'));
});

/** What the proxy's resolver says of names; `nas.test` and `meta.test` are allowed to be private. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'open.test': [`${OPEN_V4}.10`],
  'open6.test': [`${OPEN_V6}:10`],
  'own.test': [`${OPEN_V4}.20`, `${OPEN_V6}:20`],
  'alias-of-own.test': [`${OPEN_V4}.20`],
  'alias6-of-own.test': [`${OPEN_V6}:20`],
  'nas.test': [`${PRIVATE_V4}.10`],
  'meta.test': ['169.254.169.254'],
  'private.test': [`${PRIVATE_V4}.10`],
  'private6.test': [`${PRIVATE_V6}:10`],
  'loopback.test': ['127.0.0.1'],
  'mapped.test': [`::ffff:${PRIVATE_V4}.10`],
};

/** What the proxy answers to lines of `METHOD TARGET`, asked one after the other from another container. */
function ask(lines: readonly string[]): Promise<Answer[]> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      'docker',
      ['exec', '-i', name('site'), 'node', '/site.mjs', 'ask'],
      { maxBuffer: 64 * 1024 * 1024 },
      (error, stdout) => {
        if (error) reject(error);
        else
          resolve(
            stdout
              .split('\n')
              .filter(Boolean)
              .map((line) => JSON.parse(line) as Answer),
          );
      },
    );
    child.stdin?.end(`${lines.join('\n')}\n`);
  });
}

async function hits(): Promise<string[]> {
  const script = "fetch('http://127.0.0.1/hits').then(async (r) => console.log(await r.text()))";
  const lists = ['site', 'own'].map(async (part) => {
    const said = await docker('exec', name(part), 'node', '-e', script);
    return JSON.parse(said) as string[];
  });
  return (await Promise.all(lists)).flat();
}

const bothWays = (host: string) => [`GET http://${host}/`, `GET http://${host}:8080/`, `CONNECT ${host}:443`];
const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address);

prove(
  'browser',
  'The browser’s proxy opens no connection to an address that is not public, nor to the server’s own',
  async () => {
    const literal = [
      ...FORBIDDEN_V4,
      ...FORBIDDEN_V6,
      `${PRIVATE_V4}.10`,
      `${PRIVATE_V4}.1`,
      `${PRIVATE_V6}:10`,
    ];
    const wrapped = ['127.0.0.1', `${PRIVATE_V4}.10`, '169.254.169.254'].flatMap((address) =>
      Object.values(V4_SPELLINGS)
        .map((spell) => spell(address))
        .filter((host) => host.startsWith('[')),
    );
    const metadata = NEVER.filter((address) => /^[\da-f:.]+[\da-f]$/.test(address)).map(bracketed);
    const names = Object.keys(NAMES).filter(
      (host) => !['open.test', 'open6.test', 'nas.test'].includes(host),
    );
    const own = [`${OPEN_V4}.20`, `[${OPEN_V6}:20]`, `[::ffff:${OPEN_V4}.20]`, 'OWN.TEST', 'own.test.'];
    const denied = [...literal.map(bracketed), ...wrapped, ...metadata, ...names, ...own].flatMap(bothWays);
    const ports = [0, 7, 22, 25, 79, 81, 110, 139, 389, 442, 444, 445, 514, 631, 873, 993, 1023].flatMap(
      (port) =>
        ['open.test', 'nas.test', `${OPEN_V4}.10`].flatMap((host) => [
          `CONNECT ${host}:${port}`,
          `GET http://${host}:${port}/`,
        ]),
    );
    // Spellings that resolvers take for an address, though no browser sends them.
    const spelled = ['127.0.0.1', `${PRIVATE_V4}.10`].flatMap((address) =>
      FOLDED.map((way) => V4_SPELLINGS[way]?.(address) ?? '')
        .filter((host) => /^[\da-fx.]+$/i.test(host))
        .flatMap(bothWays),
    );
    const others = [
      'GET ftp://open.test/',
      'GET gopher://open.test/',
      'GET cache_object://127.0.0.1/info',
      `GET http://${OPEN_V4}.30:3128/squid-internal-mgr/menu`,
      'GET http://127.0.0.1:3128/squid-internal-mgr/info',
      'PURGE http://private.test/',
      'CONNECT [::1]:443',
      'CONNECT private.test:8080',
    ];
    const failures: string[] = [];
    const isRefused = ({ status, error }: Answer) => status === 403 && error === 'ERR_ACCESS_DENIED';
    for (const answer of await ask([...denied, ...ports])) {
      const isNoPort = / 0$|:0\/?$/.test(answer.target) && answer.status === 400;
      if (!isRefused(answer) && !isNoPort) failures.push(JSON.stringify(answer));
    }
    for (const answer of await ask([...spelled, ...others])) {
      const isTurnedAway = [400, 403, 404].includes(answer.status) || answer.error === 'ERR_DNS_FAIL';
      if (!isTurnedAway) failures.push(JSON.stringify(answer));
    }
    failures.push(...(await hits()).map((hit) => `reached ${hit}`));

    const welcome = [
      ...['open.test', `${OPEN_V4}.10`, `[${OPEN_V6}:10]`, 'open6.test', 'nas.test'].flatMap(bothWays),
      'CONNECT open.test:9222',
    ];
    const arrived = await ask(welcome);
    failures.push(
      ...arrived.filter(({ status }) => status !== 200).map((each) => `allowed: ${JSON.stringify(each)}`),
    );
    const total = denied.length + ports.length + spelled.length + others.length;
    return { tries: total, failures, figures: `0 reached; ${arrived.length} allowed ones arrived` };
  },
);

prove('browser', 'From Chromium’s container the proxy leads to no part of the appliance', async () => {
  const targets = [
    'server:3000',
    'caddy:443',
    'caddy:80',
    'chromium:9222',
    'cdp:9222',
    'egress:3128',
    'demo-apis:8080',
  ];
  const addresses = await Promise.all(
    ['server', 'caddy', 'chromium', 'egress', 'demo-apis', 'web-1', 'db-1'].map(async (service) =>
      (
        await docker(
          'inspect',
          '--format',
          '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{.Gateway}} {{end}}',
          `${stack.project}-${service}-1`,
        )
      )
        .trim()
        .split(/\s+/),
    ),
  );
  const own = [...new Set(addresses.flat())].filter((address) => address !== '' && address !== 'invalid');
  const all = [
    ...targets,
    ...own.flatMap((address) => [`${address}:80`, `${address}:443`, `${address}:3000`]),
  ];
  const lines = [...all, 'demo-site:80']
    .map((target) => `GET http://${target}/\nCONNECT ${target}`)
    .join('\n');
  // Chromium's container has bash and no other client.
  const script = `while read -r method target; do exec 3<>/dev/tcp/egress/3128
    printf '%s %s HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' "$method" "$target" >&3
    read -r _ status _ <&3; echo "$method $target $status"; exec 3>&-; done`;
  const run = Buffer.from(`${script} <<'END'\n${lines}\nEND\n`).toString('base64');
  const said = (await inside('chromium', `echo ${run} | base64 -d | bash`, '10003')).trim().split('\n');
  const failures: string[] = [];
  for (const line of said) {
    const [method, target = '', status = ''] = line.split(' ');
    if (target.includes('demo-site')) {
      // CONNECT to the allowed site, on a port that is the web's.
      if (status !== '200') failures.push(`allowed: ${line}`);
    } else if (status !== '403' && !(status === '503' && targets.some((each) => target.includes(each)))) {
      failures.push(line || `${method} was not answered`);
    }
  }
  if (said.length !== (all.length + 1) * 2) failures.push(`${said.length} answers`);
  return { tries: all.length * 2, failures, figures: `${own.length} addresses of the appliance; 0 reached` };
});
