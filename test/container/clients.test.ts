import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

import {
  Client,
  StreamableHTTPClientTransport,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';

import { post, secureFetch, stack, url } from '../support/stack.ts';

const run = promisify(execFile);
const SIX = ['ssh_exec', 'mesh_status', 'fetch_external', 'code_search', 'snippet_kb', 'browser'];
const WHO = { name: 'container-test', version: '1.0.0' };
const HOSTNAME = { name: 'ssh_exec', arguments: { device: 'web-1', command: 'hostname' } };

const target = (how: string) => (how === 'the query' ? url : `${stack.base}/mcp`);
const headersFor = (how: string): Record<string, string> =>
  how === 'the query'
    ? {}
    : how === 'x-api-key'
      ? { 'x-api-key': stack.secret }
      : { authorization: `Bearer ${stack.secret}` };

describe.each(['the query', 'Authorization', 'x-api-key'])('with the secret in %s', (how) => {
  const options = { requestInit: { headers: headersFor(how) }, fetch: secureFetch };

  it.each(['2026-07-28', 'legacy'])(
    'the official client v2 connects, lists and calls (%s)',
    async (revision) => {
      const client = new Client(WHO, {
        versionNegotiation: { mode: revision === 'legacy' ? 'legacy' : { pin: revision } },
      });
      await client.connect(new StreamableHTTPClientTransport(new URL(target(how)), options));
      expect(client.getServerVersion()).toMatchObject({ name: 'remote-tool-server', version: '0.1.0' });
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(SIX);
      const { structuredContent } = await client.callTool(HOSTNAME);
      expect(structuredContent).toMatchObject({ exit_code: 0, stdout: 'web-1\n' });
      await client.close();
    },
  );

  it('the official client v1 connects, lists and calls', async () => {
    const client = new ClientV1(WHO);
    await client.connect(new TransportV1(new URL(target(how)), options as never) as never);
    expect(client.getServerVersion()).toMatchObject({ name: 'remote-tool-server', version: '0.1.0' });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(SIX);
    const { structuredContent } = await client.callTool(HOSTNAME);
    expect(structuredContent).toMatchObject({ exit_code: 0, stdout: 'web-1\n' });
    await client.close();
  });
});

describe('every older revision', () => {
  const older = SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version < '2026');

  it('is among those tried', () => {
    expect(older.toSorted()).toEqual(
      expect.arrayContaining(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']),
    );
  });

  it.each(older)('%s: initialize, list, call', async (protocolVersion) => {
    const ask = async (method: string, params: unknown, headers = {}) =>
      (
        (await (await post({ jsonrpc: '2.0', id: 1, method, params }, { headers })).json()) as {
          result: never;
        }
      ).result;
    const hello = await ask('initialize', { protocolVersion, capabilities: {}, clientInfo: WHO });
    expect(hello).toMatchObject({ protocolVersion, serverInfo: { name: 'remote-tool-server' } });
    const headers = { 'mcp-protocol-version': protocolVersion };
    expect(((await ask('tools/list', {}, headers)) as { tools: unknown[] }).tools).toHaveLength(6);
    expect(await ask('tools/call', HOSTNAME, headers)).toMatchObject({
      structuredContent: { stdout: 'web-1\n' },
    });
  });
});

describe('other programs', () => {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: stack.caFile };

  it('the Inspector’s command line lists and calls', async () => {
    const inspect = async (...args: string[]) => {
      const command = [
        resolve('node_modules/.bin/mcp-inspector'),
        '--cli',
        url,
        '--transport',
        'http',
        ...args,
      ];
      return (await run(process.execPath, command, { env })).stdout;
    };
    const listed = JSON.parse(await inspect('--method', 'tools/list')) as { tools: { name: string }[] };
    expect(listed.tools.map(({ name }) => name)).toEqual(SIX);
    const called = await inspect(
      '--method',
      'tools/call',
      '--tool-name',
      'ssh_exec',
      '--tool-arg',
      'device=web-1',
      'command=hostname',
    );
    expect(JSON.parse(called)).toMatchObject({ structuredContent: { exit_code: 0, stdout: 'web-1\n' } });
  });

  it('mcp-remote connects a client that speaks over standard input', async () => {
    const client = new ClientV1(WHO);
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [resolve('node_modules/.bin/mcp-remote'), url, '--transport', 'http-only'],
        env: env as Record<string, string>,
        stderr: 'ignore',
      }),
    );
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(SIX);
    const { structuredContent } = await client.callTool(HOSTNAME);
    expect(structuredContent).toMatchObject({ exit_code: 0, stdout: 'web-1\n' });
    await client.close();
  });
});

describe('many clients at once', () => {
  it('get each their own answer', async () => {
    const clients = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const client = new Client({ ...WHO, name: `client-${index}` });
        await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: secureFetch }));
        return client;
      }),
    );
    const answers = await Promise.all(
      clients.map((client, index) =>
        client.callTool({ name: 'ssh_exec', arguments: { device: 'db-1', command: `echo ${index}` } }),
      ),
    );
    expect(answers.map(({ structuredContent }) => (structuredContent as { stdout: string }).stdout)).toEqual(
      clients.map((_, index) => `${index}\n`),
    );
    await Promise.all(clients.map((client) => client.close()));
  });
});
