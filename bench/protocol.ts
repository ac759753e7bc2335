/**
 * What a request costs: this server beside the least that the machine and its HTTP library allow, and beside servers
 * built as the libraries' tutorials say. `npm run bench -- protocol [calls]`: how many calls the memory is watched
 * over (300,000).
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Bench, median } from './lib/bench.ts';
import { jsonPost, load, type LoadResult } from './lib/load.ts';
import { type ServerProcess, startServer } from './lib/process.ts';
import { product, SECRET } from './lib/product.ts';

const ROUNDS = 3;
const ROUND_MS = 1_500;
/** Servers run for months; what the compiler of a young process does is no part of a call's cost. */
const WARM_MS = 3_000;
const CONNECTIONS = 64;
const OWN = 'remote-tool-server';

type Era = 'legacy' | 'modern';
type What = 'list' | 'call';

const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const REFUSED = { name: 'ssh_exec', arguments: { device: 'web-1', command: 'rm -rf /srv' } };

function requestOf(era: Era, what: What): { headers: Record<string, string>; body: unknown } {
  const method = what === 'list' ? 'tools/list' : 'tools/call';
  const params = {
    ...(what === 'call' && REFUSED),
    ...(era === 'modern' && { _meta: META }),
  };
  const headers = {
    'user-agent': 'bench/1',
    ...(era === 'legacy' && { 'mcp-protocol-version': '2025-06-18' }),
    ...(era === 'modern' && { 'mcp-protocol-version': VERSION, 'mcp-method': method }),
    ...(era === 'modern' && what === 'call' && { 'mcp-name': REFUSED.name }),
  };
  return { headers, body: { jsonrpc: '2.0', id: 1, method, params } };
}

interface Variant {
  label: string;
  server: ServerProcess;
  path: string;
  eras: readonly Era[];
}

async function answerOf({ server, path }: Variant, era: Era, what: What): Promise<string> {
  const { headers, body } = requestOf(era, what);
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const expected = what === 'list' ? '"tools"' : 'matched_rule';
  if (response.status !== 200 || !text.includes(expected)) {
    throw new Error(`${era} ${what} answered ${response.status} ${text.slice(0, 300)}`);
  }
  return text;
}

const pressure = (
  { server, path }: Variant,
  era: Era,
  what: What,
  amount: { ms: number } | { requests: number },
) => {
  const { headers, body } = requestOf(era, what);
  const request = jsonPost(path, headers, body);
  return load({ port: server.port, request, connections: CONNECTIONS, amount });
};

export const bench: Bench = {
  name: 'protocol',
  title: 'What a request costs over HTTP, at 64 connections',
  peers: true,
  async run(report, args) {
    const calls = Number(args[0] ?? 300_000);
    const directory = mkdtempSync(join(tmpdir(), 'bench-protocol-'));
    const servers: ServerProcess[] = [];
    const start = async (
      label: string,
      command: Parameters<typeof startServer>[0],
      path: string,
      eras: Era[],
    ) => {
      const server = await startServer(command);
      servers.push(server);
      return { label, server, path, eras };
    };
    try {
      const settings = {
        SSH_BLOCKED_COMMANDS: 'rm -rf',
        // Refusals by policy do not count against the rates; set off all the same, so that none is measured.
        MAX_CALLS_PER_MINUTE: '0',
      };
      const path = `/mcp?token=${SECRET}`;
      const own = await start(OWN, product(directory, settings), path, ['modern', 'legacy']);
      // What a record on disk before each answer costs.
      const without = join(directory, 'without');
      mkdirSync(without);
      const unaudited = await start(
        `${OWN} without an audit log`,
        product(without, { ...settings, AUDIT_ENABLED: 'false' }),
        path,
        ['legacy'],
      );
      const list = await answerOf(own, 'legacy', 'list');
      const { result } = JSON.parse(list) as { result: { tools: unknown } };
      writeFileSync(join(directory, 'tools.json'), JSON.stringify(result.tools));
      const call = await answerOf(own, 'legacy', 'call');
      const refusal = JSON.parse(call) as { result: { structuredContent: unknown } };
      writeFileSync(join(directory, 'answer.json'), JSON.stringify(refusal.result.structuredContent));
      const script = (name: string) => [join(process.cwd(), `bench/peers/servers/${name}.mjs`)];
      const env = { TOOLS: join(directory, 'tools.json'), ANSWER: join(directory, 'answer.json') };
      const peers: Variant[] = [
        await start('SDK v2, tutorial', { args: script('sdk-v2'), env }, '/mcp', ['modern', 'legacy']),
        await start('SDK v1 on Express', { args: script('sdk-v1'), env }, '/mcp', ['legacy']),
        await start('fastmcp', { args: script('fastmcp'), env }, '/mcp', ['legacy']),
      ];

      for (const what of ['list', 'call'] as const) {
        const bytes = join(directory, `${what}.bytes`);
        writeFileSync(bytes, what === 'list' ? list : call);
        const limits: Variant[] = [
          await start(
            'node:http, fixed bytes',
            { args: script('node-http'), env: { BYTES: bytes } },
            '/mcp',
            ['legacy'],
          ),
          await start('Hono, fixed bytes', { args: script('hono'), env: { BYTES: bytes } }, '/mcp', [
            'legacy',
          ]),
        ];
        const runs = [...limits, own, ...(what === 'call' ? [unaudited] : []), ...peers].flatMap((variant) =>
          variant.eras.map((era) => ({ variant, era, results: [] as LoadResult[] })),
        );
        for (const { variant, era } of runs) {
          if (!limits.includes(variant)) await answerOf(variant, era, what);
          await pressure(variant, era, what, { ms: WARM_MS });
        }
        for (let round = 1; round <= ROUNDS; round += 1) {
          for (const { variant, era, results } of runs) {
            const measured = await pressure(variant, era, what, { ms: ROUND_MS });
            results.push(measured);
            report.say(
              `${what}, round ${round}: ${variant.label}, ${era}: ${Math.round(measured.rate)} requests/s`,
            );
          }
        }
        const name = what === 'list' ? 'tools/list' : 'tools/call that policy refuses';
        const rates = `${name}: requests a second`;
        const late = `${name}: p99`;
        report.lowerIsBetter(late);
        const of = (label: string, era: Era, pick: (result: LoadResult) => number) => {
          const run = runs.find((each) => each.variant.label === label && each.era === era);
          return median(run?.results.map(pick) ?? []);
        };
        for (const { variant, era, results } of runs) {
          const label = limits.includes(variant) ? variant.label : `${variant.label}, ${era}`;
          report.figure(
            rates,
            label,
            'requests/s',
            results.map(({ rate }) => rate),
          );
          report.figure(
            late,
            label,
            'ms',
            results.map(({ p99 }) => p99),
          );
        }
        const [ofLimit, ofPeers] = what === 'list' ? [0.6, 15] : [0.3, 5];
        const bare = of('Hono, fixed bytes', 'legacy', ({ rate }) => rate);
        const barePeak = of('Hono, fixed bytes', 'legacy', ({ p99 }) => p99);
        for (const era of ['modern', 'legacy'] as const) {
          const rate = of(OWN, era, (result) => result.rate);
          report.target(`${name}, ${era}: rate of bare Hono’s`, rate / bare, 'at least', ofLimit);
          for (const { label, eras } of peers) {
            const other = of(label, eras.includes(era) ? era : 'legacy', (result) => result.rate);
            report.target(`${name}, ${era}: rate of ${label}’s`, rate / other, 'at least', ofPeers);
          }
          const peak = of(OWN, era, ({ p99 }) => p99);
          report.target(`${name}, ${era}: p99 of bare Hono’s`, peak / barePeak, 'at most', 3);
        }
        await Promise.all(limits.map(({ server }) => server.stop()));
      }

      report.say(`${calls} more calls, for the memory`);
      const watched: number[] = [];
      for (let part = 0; part < 10; part += 1) {
        await pressure(own, part % 2 === 0 ? 'modern' : 'legacy', 'call', {
          requests: Math.ceil(calls / 10),
        });
        watched.push(own.server.rss());
        report.say(`${Math.round(((part + 1) * calls) / 10)} calls: ${Math.round(own.server.rss())} MB`);
      }
      const memory = 'Resident memory after the load';
      report.lowerIsBetter(memory);
      const resident = report.figure(memory, OWN, 'MB', watched);
      for (const { label, server } of peers) report.figure(memory, label, 'MB', [server.rss()]);
      const first = median(watched.slice(0, 5));
      const second = median(watched.slice(5));
      report.target('Resident memory', resident, 'at most', 150, 'MB');
      report.target('Resident memory, second half of the calls to the first', second / first, 'at most', 1.1);
      report.note(
        'Credentials are checked and, for tools/call, the refusal is on disk before each answer; the peers do neither.',
      );
      report.note(
        'The SDK v1 and fastmcp do not know the modern revision; their legacy rate stands in for it.',
      );
      report.note('One core for the server and one for the load; the rounds of all variants take turns.');
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
      rmSync(directory, { recursive: true });
    }
  },
};
