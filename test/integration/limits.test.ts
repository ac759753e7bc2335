import { describe, expect, it, onTestFinished } from 'vitest';

import { loadConfig } from '../../src/config/load.ts';
import { applyReload } from '../../src/config/reload.ts';
import { catalogue } from '../support/catalogue.ts';
import { SECRET, startTestServer, type TestServer, type ToolAnswer } from '../support/server.ts';

/** A server for one test alone: what was used up of a limit is left to no other. */
async function serverWith(env: Record<string, string>): Promise<TestServer> {
  const server = await startTestServer(env);
  onTestFinished(() => server.close());
  return server;
}

const ENV = { MCP_SECRET: 'a'.repeat(64), MESH_API_KEY: 'key-1', CODE_HOST_TOKEN: 'token-1' };
const callBody = (id: number) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'mesh_status', arguments: {} },
});

describe('a tool’s limit of concurrent calls', () => {
  it('refuses one more with the wait, records it, and leaves the other tools and /health alone', async () => {
    const server = await serverWith({ MAX_CONCURRENT_CALLS_BY_TOOL: '{"mesh_status":2}' });
    const { base, control, url } = server;
    control.fail('mesh', { hang: true });
    const controller = new AbortController();
    const hanging = [1, 2].map((id) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(callBody(id)),
        signal: controller.signal,
      }),
    );
    await expect
      .poll(() => server.audit().filter(({ event }) => event === 'intent').length, { timeout: 10_000 })
      .toBe(2);

    const refused = await server.call('mesh_status', {});
    expect(refused.isError).toBe(true);
    expect(refused.structuredContent).toEqual({
      error: {
        code: 'rate_limited',
        message: '2 calls of mesh_status are under way, which is the most at a time.',
        hint: 'Wait for one of them to end.',
        retry_after_seconds: 1,
      },
    });
    expect(server.audit().at(-1)).toMatchObject({
      event: 'refused',
      tool: 'mesh_status',
      decision: 'refuse',
      rule: 'limit:tool-concurrency',
      outcome: 'error',
      error_code: 'rate_limited',
    });
    const other = await server.call('fetch_external', { url: 'https://elsewhere.example/' });
    expect(other.structuredContent.error?.code).toBe('domain_not_allowed');
    expect((await fetch(`${base}/health`, { headers: { 'x-api-key': SECRET } })).status).toBe(200);

    controller.abort();
    await Promise.allSettled(hanging);
    // Both places are free again.
    const metrics = () => fetch(`${base}/metrics`, { headers: { 'x-api-key': SECRET } });
    await expect
      .poll(async () => (await metrics()).text())
      .toContain('remote_tool_server_calls_under_way 0\n');
  });
});

describe('a tool’s rate', () => {
  it('is not passed around by a batch, nor by malformed and refused calls', async () => {
    // One a minute: five at once, and no sixth within this test.
    const server = await serverWith({ MAX_CALLS_PER_MINUTE_BY_TOOL: '{"mesh_status":1}' });

    for (let n = 0; n < 10; n++) {
      expect((await server.call('mesh_status', { onlin: true })).structuredContent.error?.code).toBe(
        'invalid_input',
      );
    }
    const response = await server.post(Array.from({ length: 8 }, (_, id) => callBody(id + 1)));
    const answers = (await response.json()) as { result: ToolAnswer }[];
    const codes = answers.map(({ result }) => result.structuredContent.error?.code ?? 'ok');
    expect(codes).toEqual([...Array<string>(5).fill('ok'), ...Array<string>(3).fill('rate_limited')]);
    const { error } = answers.at(-1)?.result.structuredContent ?? {};
    expect(error).toMatchObject({
      message: 'More than 1 calls of mesh_status a minute, which is the most.',
      retry_after_seconds: expect.any(Number),
    });
    const records = server.audit().filter(({ event }) => event !== 'outcome');
    expect(records.slice(-8).map(({ event, rule }) => rule ?? event)).toEqual([
      ...Array<string>(5).fill('intent'),
      ...Array<string>(3).fill('limit:tool-rate'),
    ]);
  });
});

describe('the settings of limits', () => {
  it('know exactly the tools there are, and leave each a place beside all the others', () => {
    const { limits } = loadConfig(ENV).config;
    const names = catalogue().map(({ name }) => name);
    expect(Object.keys(limits.concurrentByTool).sort()).toEqual([...names].sort());
    expect(Object.keys(limits.perMinuteByTool).sort()).toEqual([...names].sort());
    const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
    expect(sum(Object.values(limits.concurrentByTool))).toBe(limits.concurrent);
    expect(sum(Object.values(limits.perMinuteByTool))).toBe(limits.perMinute);
  });

  it('name some tools and leave the others as they are, in either place', () => {
    const env = { ...ENV, MAX_CONCURRENT_CALLS_BY_TOOL: '{"browser":4}' };
    const { limits } = loadConfig(env, 'limits:\n  calls_per_minute_by_tool:\n    ssh_exec: 60\n').config;
    expect(limits.concurrentByTool).toMatchObject({ browser: 4, ssh_exec: 128 });
    expect(limits.perMinuteByTool).toMatchObject({ browser: 6_000, ssh_exec: 60 });
  });

  it('that name no tool are a fault', () => {
    const env = { ...ENV, MAX_CALLS_PER_MINUTE_BY_TOOL: '{"ssh":4}' };
    expect(() => loadConfig(env)).toThrow(
      'MAX_CALLS_PER_MINUTE_BY_TOOL: expected an object that maps names of tools to whole numbers from 0 to 1000000',
    );
  });

  it('are put in force by a reload', () => {
    const { config } = loadConfig(ENV);
    const { limits } = config;
    const fresh = loadConfig(
      ENV,
      'limits:\n  calls_per_minute: 9\n  concurrent_calls_by_tool: {browser: 1}\n',
    );
    expect(applyReload(config, fresh.config)).toEqual({
      applied: ['MAX_CONCURRENT_CALLS_BY_TOOL', 'MAX_CALLS_PER_MINUTE'],
      pending: [],
    });
    expect(limits.perMinute).toBe(9);
    expect(limits.concurrentByTool.browser).toBe(1);
  });
});
