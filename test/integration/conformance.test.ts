import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { freePort, SECRET, startTestServer, type TestServer } from '../support/server.ts';

const CLI = resolve('node_modules/.bin/conformance');

/**
 * The official suite's scenarios that a server with tools alone can be asked. Those left out want resources,
 * prompts, completion, logging or sampling, or tools of the suite's own making (`tools-call-*`, `json-schema-2020-12`).
 */
const SCENARIOS: Record<string, string[]> = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'server-sse-polling',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
    'http-header-validation',
    'caching',
  ],
};

let server: TestServer;
let proxy: Server;
let proxyPort: number;

beforeAll(async () => {
  proxyPort = await freePort();
  server = await startTestServer({
    ALLOWED_ORIGINS: `http://localhost:${proxyPort},http://127.0.0.1:${proxyPort}`,
  });
  // The suite's raw requests drop the query string, so the credentials are added on the way.
  proxy = createServer((incoming, outgoing) => {
    const forward = httpRequest(
      `${server.base}${incoming.url}`,
      { method: incoming.method, headers: { ...incoming.headers, authorization: `Bearer ${SECRET}` } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forward.destroy());
    incoming.pipe(forward);
  });
  proxy.listen(proxyPort, '127.0.0.1');
  await once(proxy, 'listening');
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await server.close();
});

async function run(scenario: string, revision: string): Promise<string> {
  const child = spawn(
    process.execPath,
    [
      CLI,
      'server',
      '--url',
      `http://127.0.0.1:${proxyPort}/mcp`,
      '--scenario',
      scenario,
      '--spec-version',
      revision,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  await once(child, 'close');
  return output;
}

/** Checks of a scenario that ask for what this server does not have: other primitives, or the suite's own tools. */
const NOT_OURS: Record<string, string[]> = {
  'server-stateless': [
    'sep-2575-server-rejects-undeclared-capability',
    'sep-2575-missing-capability-http-400',
    'sep-2575-http-server-no-independent-requests-on-stream',
    'sep-2575-server-no-log-without-loglevel',
  ],
  caching: [
    'sep-2549-prompts-list-caching-hints',
    'sep-2549-resources-list-caching-hints',
    'sep-2549-resources-templates-list-caching-hints',
  ],
};

/** With this revision these want a session id; a server without sessions gets a warning and no more checks. */
const WANT_A_SESSION = ['2025-11-25 server-sse-polling', '2025-11-25 server-sse-multiple-streams'];

/** Names of the checks that ended so, from the suite's lines `[name] STATUS description`. */
function checks(output: string, status: 'SUCCESS' | 'FAILURE'): string[] {
  return stripVTControlCharacters(output)
    .split('\n')
    .map((line) => /\[(?<name>[\w-]+) *\] (?<status>[A-Z]+) /.exec(line)?.groups)
    .filter((check) => check?.['status'] === status)
    .map((check) => check?.['name'] ?? '');
}

describe.each(Object.entries(SCENARIOS))('revision %s', (revision, scenarios) => {
  it.each(scenarios)('%s', async (scenario) => {
    const output = await run(scenario, revision);
    expect(checks(output, 'SUCCESS').length > 0, output).toBe(
      !WANT_A_SESSION.includes(`${revision} ${scenario}`),
    );
    expect(checks(output, 'FAILURE'), output).toEqual(NOT_OURS[scenario] ?? []);
  });
});
