/**
 * How long a start takes, from the beginning of the process to its first answer, and what the server uses when nobody
 * asks it anything. Where the images are built, their sizes too.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { VERSION } from '../src/core/version.ts';
import { type Bench, median, type Report } from './lib/bench.ts';
import { type ServerCommand, startServer } from './lib/process.ts';
import { product, SECRET } from './lib/product.ts';
import { sshKeyPair } from '../test/support/ssh-keys.ts';

const ROUNDS = 9;
const IDLE_MS = 20_000;
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const IMAGES = [
  [`remote-tool-server/server:${VERSION}`, 350],
  [`remote-tool-server/chromium:${VERSION}`, 800],
] as const;

/** From the start of the process to the first answer, in ms. */
async function timeToAnswer(command: ServerCommand, path: string): Promise<number> {
  const from = performance.now();
  const server = await startServer(command);
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(LIST),
  });
  const text = await response.text();
  const time = performance.now() - from;
  await server.stop();
  if (response.status !== 200) throw new Error(`answered ${response.status} ${text}`);
  return time;
}

export const bench: Bench = {
  name: 'start',
  title: 'Process start to first answer, idling, images',
  peers: true,
  async run(report) {
    const directory = mkdtempSync(join(tmpdir(), 'bench-start-'));
    try {
      const bytes = join(directory, 'bytes');
      writeFileSync(bytes, '{"jsonrpc":"2.0","id":1,"result":{}}');
      const hono = join(process.cwd(), 'bench/peers/servers/hono.mjs');
      // Filled by the first start, as the image's is when it is built.
      const cached = { NODE_COMPILE_CACHE: join(directory, 'compiled') };
      const path = `/mcp?token=${SECRET}`;
      const variants: [string, ServerCommand, string][] = [
        ['Hono', { args: [hono], env: { BYTES: bytes } }, '/mcp'],
        ['remote-tool-server, as in the image', product(directory, cached), path],
        ['remote-tool-server, no compile cache', product(directory), path],
      ];
      const times = variants.map(() => [] as number[]);
      for (const [, command, at] of variants) await timeToAnswer(command, at);
      for (let round = 1; round <= ROUNDS; round += 1) {
        for (const [index, [label, command, at]] of variants.entries()) {
          const time = await timeToAnswer(command, at);
          times[index]?.push(time);
          report.say(`round ${round}: ${label}: ${Math.round(time)} ms`);
        }
      }
      const series = 'From the start of the process to the first answer';
      report.lowerIsBetter(series);
      for (const [index, [label]] of variants.entries())
        report.figure(series, label, 'ms', times[index] ?? []);
      const [bare = [], image = []] = times;
      report.target('Start to first answer, of bare Hono’s', median(image) / median(bare), 'at most', 1.5);

      const server = await startServer(product(directory));
      try {
        report.say(`idling for ${IDLE_MS / 1_000} s`);
        // The start's own work is over when a second has passed without any.
        for (let before = -1; before !== server.cpu(); await wait(1_000)) before = server.cpu();
        const from = server.cpu();
        await wait(IDLE_MS);
        const share = ((server.cpu() - from) / IDLE_MS) * 100;
        report.figure('CPU while nobody asks', 'remote-tool-server', '% of a core', [share]);
        report.lowerIsBetter('CPU while nobody asks');
        report.target('CPU while nobody asks', share, 'at most', 0.5, '%');
      } finally {
        await server.stop();
      }
      images(report);
      composeUp(report, directory);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};

/** From `docker compose up --wait` until all is healthy, with the images there; nothing where they are not. */
function composeUp(report: Report, directory: string): void {
  if (IMAGES.some(([image]) => spawnSync('docker', ['image', 'inspect', image]).status !== 0)) return;
  const keyFile = join(directory, 'service-key');
  writeFileSync(keyFile, sshKeyPair().private, { mode: 0o600 });
  const envFile = join(directory, 'compose.env');
  writeFileSync(envFile, `MCP_SECRET=${SECRET}\nMESH_API_KEY=mesh-key-1\nCODE_HOST_TOKEN=host-token-1\n`);
  const env = {
    ...process.env,
    COMPOSE_PROJECT_NAME: `rts-bench-${process.pid}`,
    ENV_FILE: envFile,
    SSH_KEY_FILE: keyFile,
    HTTP_PORT: '0',
    HTTPS_PORT: '0',
  };
  const compose = (...args: string[]) =>
    execFileSync('docker', ['compose', ...args], { env, stdio: 'ignore' });
  const up = () => {
    const from = performance.now();
    compose('up', '--detach', '--no-build', '--wait');
    return (performance.now() - from) / 1_000;
  };
  const series = 'docker compose up --wait, images there';
  report.lowerIsBetter(series);
  try {
    const times = [1, 2, 3].map((round) => {
      report.say(`docker compose up --wait, round ${round}`);
      const time = up();
      compose('down', '--timeout', '15');
      return time;
    });
    const time = report.figure(series, 'the four containers', 's', times);
    report.target('docker compose up --wait', time, 'at most', 10, 's');
  } finally {
    compose('down', '--volumes', '--timeout', '15');
  }
}

/** Sizes of the images, with each layer above 10 MB; nothing where there is no engine or no image. */
function images(report: Report): void {
  const series = 'Images';
  for (const [image, bound] of IMAGES) {
    const size = spawnSync('docker', ['image', 'inspect', '--format', '{{.Size}}', image], {
      encoding: 'utf8',
    });
    if (size.status !== 0) {
      report.say(`no image ${image}; docker compose build makes it`);
      continue;
    }
    report.lowerIsBetter(series);
    const megabytes = report.figure(series, image, 'MB', [Number(size.stdout) / 1e6]);
    report.target(`Size of ${image}`, megabytes, 'at most', bound, 'MB');
    const history = spawnSync(
      'docker',
      ['history', '--no-trunc', '--format', '{{.Size}}\t{{.CreatedBy}}', image],
      {
        encoding: 'utf8',
      },
    );
    for (const line of history.stdout.split('\n')) {
      const [layer = '', by = ''] = line.split('\t');
      if (/\d{2}\.?\d*MB|GB/.test(layer))
        report.say(`${image}: ${layer}: ${by.replaceAll(/\s+/g, ' ').slice(0, 100)}`);
    }
  }
}
