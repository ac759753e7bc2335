import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe } from 'vitest';

import { call, container, docker, healthy, stack } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { exercise, type Told } from './lib/canary-exercise.ts';
import { found, type Needle, needlesOf } from './lib/needles.ts';
import { LOOK, besideProcesses, parseProcesses } from './lib/processes.ts';
import { prove, whole } from './row.ts';

const SERVICES = ['server', 'caddy', 'chromium', 'egress', 'demo-apis'].concat(
  whole ? ['web-1', 'db-1', 'demo-site'] : [],
);
const IMAGES = ['server', 'caddy', 'chromium', 'egress'];

/** Where a secret has to be, by design; everywhere else it is a leak. */
const ALLOWED = [
  'the environment of the server’s process, of its health check and of their init, and with it `docker inspect`',
  'the .env and key files on the host, and the key where it is mounted',
  'the demo’s stand-ins, which know the two tokens that they accept',
];

const MARK = '--- canary ---';
const OWN_KEY = 'SSH private key';

/** The secrets of the stack, and two more that it gets for this test. */
function secretsOf(): Record<string, string> {
  const key = readFileSync(stack.composeEnv['SSH_KEY_FILE'] ?? '', 'utf8')
    .trim()
    .split('\n');
  return {
    MCP_SECRET: stack.secret,
    ...(whole && { MCP_SECRET_PREVIOUS: randomBytes(32).toString('hex') }),
    MESH_API_KEY: stack.meshKey,
    CODE_HOST_TOKEN: stack.codeHostToken,
    ...(whole && { CANARY_TOKEN: `canary_${randomBytes(24).toString('base64url')}` }),
    // Lines of its own: the first one of base64 is the same for every key of the kind.
    [OWN_KEY]: key.slice(3, -1).join(''),
    [`${OWN_KEY}, a line`]: key.at(-3) ?? '',
  };
}

/** Starts the server anew with the settings of .env and these, runs `act`, and takes them away again. */
async function withMoreSecrets<T>(secrets: Record<string, string>, act: () => Promise<T>): Promise<T> {
  // Two starts of the server take longer than the short form may.
  if (!whole) return act();
  const file = stack.composeEnv['ENV_FILE'] ?? '';
  const before = readFileSync(file, 'utf8');
  const restart = async () => {
    await docker('compose', 'up', '--detach', '--no-deps', '--no-build', 'server');
    await until('the server is up', () => healthy('server'));
  };
  appendFileSync(
    file,
    [
      `MCP_SECRET_PREVIOUS=${secrets['MCP_SECRET_PREVIOUS']}`,
      `CANARY_TOKEN=${secrets['CANARY_TOKEN']}`,
      'FETCH_EXTERNAL_TOKEN_MAP={"canary.example":"CANARY_TOKEN"}',
      'PROXY_ALLOWED_DOMAINS=demo-site,canary.example',
      '',
    ].join('\n'),
  );
  try {
    await restart();
    return await act();
  } finally {
    writeFileSync(file, before);
    await restart();
  }
}

/** Runs a shell command on this machine with the needles in a file `$NEEDLES`; resolves with standard output. */
function withNeedles(needles: readonly Needle[], command: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'canary-'));
  const file = join(directory, 'needles');
  writeFileSync(file, needles.map(({ text }) => `${text}\n`).join(''), { mode: 0o600 });
  return new Promise<string>((resolve, reject) => {
    const child = spawn('sh', ['-c', command], { env: { ...process.env, NEEDLES: file, LC_ALL: 'C' } });
    let output = '';
    child.stdout.on('data', (data: Buffer) => (output += data.toString('latin1')));
    child.on('error', reject);
    child.on('close', () => resolve(output));
  }).finally(() => rmSync(directory, { recursive: true }));
}

/** What a container holds, in three parts: processes, the environments of all but the server's own, and files. */
const HOLDINGS = `${LOOK}
echo ${MARK}; for p in [0-9]*; do grep -qa dist/main.js $p/cmdline 2>/dev/null || cat $p/environ 2>/dev/null; echo; done
echo ${MARK}; awk '$3 ~ /^(ext|xfs|btrfs|tmpfs|overlay|9p|virtiofs)/ && $2 ~ /^\\/(tmp|home|data|run|config|var|srv)/ {print $2}' 1/mounts |
  while read -r at; do echo "$at"; find "/proc/1/root$at" -type f -exec cat {} + 2>/dev/null; done`;

/** What the stack itself shows and keeps, by place. */
async function kept(): Promise<Told> {
  const places: Told = new Map();
  for (const service of SERVICES) {
    places.set(`docker logs ${service}`, await docker('logs', container(service)));
    const [inspected] = JSON.parse(await docker('inspect', container(service))) as [
      { Config: { Env?: string[] } },
    ];
    if (service === 'server') delete inspected.Config.Env;
    places.set(`docker inspect ${service}`, JSON.stringify(inspected));
    const [processes = '', environments = '', files = ''] = (await besideProcesses(service, HOLDINGS)).split(
      MARK,
    );
    const list = parseProcesses(processes).map(({ argv }) => argv.join(' '));
    places.set(`process list of ${service}`, list.join('\n'));
    // A tool that the server starts gets an environment of its own.
    places.set(`environments in ${service}`, environments);
    places.set(`files of ${service}`, files);
  }
  for (const kind of ['volume', 'network'])
    places.set(`the ${kind}s`, await docker(kind, 'ls', '--format', '{{json .}}'));
  for (const image of IMAGES) {
    const name = `remote-tool-server/${image}:0.1.0`;
    places.set(`history of ${image}`, await docker('history', '--no-trunc', name));
    places.set(`docker image inspect ${image}`, await docker('image', 'inspect', name));
  }
  return places;
}

describe('canary secrets', () => {
  // Elsewhere a token stood in the URL of an error message, in a proxy's log, in a child's environment.
  prove(
    'secrets',
    'No secret stands in any log, file, answer, record, metric, page, process list or image',
    async () => {
      const secrets = secretsOf();
      const needles = needlesOf(secrets);
      const failures: string[] = [];
      const [told, places] = await withMoreSecrets(secrets, async () => {
        // The key is in nobody's way: no client and no outside system has it.
        const { [OWN_KEY]: _, [`${OWN_KEY}, a line`]: __, ...sent } = secrets;
        const answers = await exercise(sent);
        return [answers, await kept()] as const;
      });

      const demoKnows = /^(?:MESH_API_KEY|CODE_HOST_TOKEN) /;
      for (const [place, text] of [...told, ...places]) {
        for (const name of found(needles, text)) {
          if (place.endsWith('demo-apis') && demoKnows.test(name)) continue;
          failures.push(`${place}: ${name}`);
        }
      }
      // Proof that the places were looked at, and that a needle in them is found.
      for (const [place, sign] of [
        ['files of server', '"event":"intent"'],
        ['files of server', 'ssh-ed25519'],
        ['docker logs server', '"call"'],
        ['docker logs caddy', 'health'],
        ['process list of server', 'dist/main.js'],
        ['environments in chromium', 'CDP_BIND'],
        ['files of demo-apis', '/data'],
      ] as const) {
        if (!places.get(place)?.includes(sign)) failures.push(`not looked at: ${place} has no ${sign}`);
      }
      const text = [...told.values()].join('\n');
      for (const sign of [
        '[redacted MCP_SECRET]',
        ...(whole ? ['[redacted CANARY_TOKEN]'] : []),
        'remote_tool_server_calls_total',
        'auth_failed',
        'upstream_error',
        '<!doctype html>',
      ])
        if (!text.toLowerCase().includes(sign.toLowerCase())) failures.push(`not exercised: no ${sign}`);

      let images = 0;
      if (whole) {
        for (const image of IMAGES) {
          images += 1;
          const hits = await withNeedles(
            needles.filter(({ name }) => !demoKnows.test(name) || image === 'server'),
            `docker save remote-tool-server/${image}:0.1.0 | grep -a -o -F -f "$NEEDLES" | sort -u`,
          );
          for (const name of found(needles, hits)) failures.push(`layers of ${image}: ${name}`);
        }
      }
      // The server is as it was.
      if ((await call('mesh_status', {})).isError === true)
        failures.push('the server does not answer afterwards');
      const size = [...told.values(), ...places.values()].reduce((sum, it) => sum + it.length, 0);
      return {
        tries: needles.length * (told.size + places.size + images),
        failures,
        figures: `${needles.length} forms of ${Object.keys(secrets).length} secrets in ${told.size} answers and ${places.size + images} places, ${Math.round(size / 1024)} KiB beside the images`,
        missed: ALLOWED.map((place) => `a secret is, by design, in ${place}`),
      };
    },
  );
});
