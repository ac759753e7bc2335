/** What fetch_external adds to a request, and what it holds in memory while many large bodies come in at once. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Agent, request } from 'undici';

import { fetchTool } from '../test/support/fetch-tool.ts';
import { openSite } from '../test/support/fetch-servers.ts';
import { type Bench, type Report, median } from './lib/bench.ts';
import { type ServerProcess, startServer } from './lib/process.ts';
import { product } from './lib/product.ts';
import { UNLIMITED, call, calls } from './tools/call.ts';

const ROUNDS = 5;
const REQUESTS = 200;
const BODIES = 100;
const BODY = Buffer.alloc(10_000_000, 'x');

const LATENCY = 'A request for a kilobyte';
const MEMORY = '100 bodies of 10 MB at once';

export const bench: Bench = {
  name: 'fetch',
  title: 'What fetch_external adds to a request',
  async run(report) {
    report.lowerIsBetter(LATENCY);
    report.lowerIsBetter(MEMORY);
    const directory = mkdtempSync(join(tmpdir(), 'bench-fetch-'));
    const site = await openSite((asked, response) => {
      response.setHeader('content-type', 'text/plain');
      response.end(asked.url === '/large' ? BODY : BODY.subarray(0, 1_000));
    });
    const url = `http://127.0.0.1:${site.port}`;
    try {
      const env = { ...UNLIMITED, PROXY_ALLOWED_DOMAINS: '127.0.0.1' };
      const server = await startServer(product(directory, env));
      try {
        await latency(report, server, url);
        await memory(report, server, url);
      } finally {
        await server.stop();
      }
    } finally {
      await site.close();
      rmSync(directory, { recursive: true });
    }
    report.note(
      'The tool is called in one process with undici, with its policy and all that it does to an answer.',
    );
  },
};

async function latency(report: Report, server: ServerProcess, url: string): Promise<void> {
  const tool = fetchTool({ PROXY_ALLOWED_DOMAINS: '127.0.0.1' });
  const agent = new Agent();
  const alone = async () => {
    const { body } = await request(url, { dispatcher: agent });
    await body.text();
  };
  const own: number[] = [];
  const bare: number[] = [];
  const whole: number[] = [];
  try {
    await times(alone);
    await times(() => tool.call({ url }));
    await calls(server.port, 'fetch_external', { url }, REQUESTS);
    for (let round = 1; round <= ROUNDS; round += 1) {
      report.say(`requests, round ${round}`);
      bare.push(median(await times(alone)));
      own.push(median(await times(() => tool.call({ url }))));
      whole.push((await calls(server.port, 'fetch_external', { url }, REQUESTS)).p50);
    }
  } finally {
    await agent.close();
    await tool.close();
  }
  const bareTime = report.figure(LATENCY, 'undici', 'ms', bare);
  const ownTime = report.figure(LATENCY, 'fetch_external', 'ms', own);
  report.figure(LATENCY, 'remote-tool-server, over HTTP and audited', 'ms', whole);
  report.target('fetch_external, beyond the same request of undici', ownTime - bareTime, 'at most', 1, 'ms');
}

async function memory(report: Report, server: ServerProcess, url: string): Promise<void> {
  const before = server.rss();
  report.figure(MEMORY, 'before', 'MB', [before]);
  for (const [label, args, bound] of [
    // What is kept of each is a few times its cap: the bytes, their text, the JSON. 1,000 MB come in.
    ['64 KiB of each kept (the default)', {}, 100],
    ['1 MiB of each kept', { max_bytes: 1024 * 1024 }, 800],
  ] as const) {
    const peaks: number[] = [];
    for (let round = 1; round <= 3; round += 1) {
      report.say(`large bodies, ${label}, round ${round}`);
      let most = server.rss();
      const timer = setInterval(() => (most = Math.max(most, server.rss())), 20);
      const answers = await Promise.all(
        Array.from({ length: BODIES }, () =>
          call(server.port, 'fetch_external', { url: `${url}/large`, ...args }),
        ),
      );
      clearInterval(timer);
      const failed = answers.find(({ status }) => status !== 200);
      if (failed) throw new Error(JSON.stringify(failed).slice(0, 500));
      peaks.push(Math.max(most, server.rss()));
    }
    report.figure(MEMORY, label, 'MB', peaks);
    report.target(`Memory at its peak, ${label}`, Math.max(...peaks) - before, 'at most', bound, 'MB');
  }
}

async function times(work: () => Promise<unknown>): Promise<number[]> {
  const all: number[] = [];
  for (let count = 0; count < REQUESTS; count += 1) {
    const from = performance.now();
    await work();
    all.push(performance.now() - from);
  }
  return all;
}
