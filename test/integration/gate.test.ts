import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { MESH_KEY, SECRET, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ SSH_BLOCKED_COMMANDS: 'rm -rf', DRY_RUN: 'true' });
});
afterAll(() => server.close());

const after = <T>(list: T[], before: number) => list.slice(before);

/** The audit records that `act` caused, but for what no two runs share. */
async function auditOf(act: () => Promise<unknown>) {
  const before = server.audit().length;
  await act();
  return after(server.audit(), before).map(({ time: _, id: __, seq: ___, mac: ____, ...rest }) => rest);
}

const client = { name: 'node', ip: '127.0.0.1' };

describe('the audit log', () => {
  it('has the intent before and the outcome after, under one id', async () => {
    const before = server.audit().length;
    await server.call('mesh_status', { online_only: true });
    const [intent, outcome, ...more] = after(server.audit(), before);
    expect(more).toEqual([]);
    expect(intent).toEqual({
      seq: before + 1,
      mac: expect.stringMatching(/^[\w-]{43}$/),
      event: 'intent',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      id: outcome?.id,
      tool: 'mesh_status',
      client,
      arguments: { online_only: true },
      decision: 'allow',
    });
    expect(outcome).toEqual({
      seq: before + 2,
      mac: expect.stringMatching(/^[\w-]{43}$/),
      event: 'outcome',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tool: 'mesh_status',
      client,
      outcome: 'ok',
      duration_ms: expect.any(Number),
      bytes: expect.any(Number),
    });
  });

  it('records what policy refuses', async () => {
    const records = await auditOf(async () => {
      const answer = await server.call('ssh_exec', { device: 'web-1', command: 'rm -rf /' });
      expect(answer.isError ?? false).toBe(false);
      expect(answer.structuredContent).toEqual({ blocked: true, matched_rule: 'rm -rf' });
    });
    expect(records).toEqual([
      {
        event: 'refused',
        tool: 'ssh_exec',
        client,
        arguments: { device: 'web-1', command: 'rm -rf /' },
        decision: 'refuse',
        rule: expect.stringContaining('rm -rf'),
        outcome: 'blocked',
      },
    ]);
  });

  it('records a dry run as one', async () => {
    const records = await auditOf(() => server.call('ssh_exec', { device: 'web-1', command: 'id' }));
    expect(records.map(({ event, decision, outcome }) => [event, decision ?? outcome])).toEqual([
      ['intent', 'dry_run'],
      ['outcome', 'ok'],
    ]);
  });

  it('records invalid arguments, with an answer that names the known ones', async () => {
    const records = await auditOf(async () => {
      const { isError, structuredContent } = await server.call('mesh_status', { onlin: true });
      expect(isError).toBe(true);
      expect(structuredContent).toEqual({
        error: {
          code: 'invalid_input',
          message: 'mesh_status was called with invalid arguments: unknown argument "onlin".',
          hint: 'The arguments of mesh_status are: device, online_only, tag.',
        },
      });
    });
    expect(records).toEqual([
      {
        event: 'refused',
        tool: 'mesh_status',
        client,
        arguments: { onlin: true },
        decision: 'invalid',
        outcome: 'error',
        error_code: 'invalid_input',
      },
    ]);
  });

  it('says back no secret that a tool was called by, whole or cut', async () => {
    for (const name of [SECRET, `a-tool-${SECRET}`]) {
      const response = await server.post({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name } });
      const text = await response.text();
      expect(text).toContain('Unknown tool: ');
      expect(text).not.toContain(SECRET.slice(0, 32));
    }
    expect(server.auditText()).not.toContain(SECRET.slice(0, 32));
  });

  it('records an unknown tool, and calls that the protocol layer turns away', async () => {
    const call = (params: unknown) => server.post({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
    const records = await auditOf(async () => {
      await call({ name: 'rm' });
      await call({ name: 5, arguments: {} });
      await call({ name: 'mesh_status', arguments: 'all' });
      await call(undefined);
      await server.post([{ jsonrpc: '1.0', id: 7, method: 'tools/call', params: { name: 'ssh_exec' } }]);
    });
    expect(records.map(({ tool, decision, rule }) => [tool, decision, rule])).toEqual([
      ['rm', 'invalid', 'unknown tool'],
      [undefined, 'invalid', expect.stringContaining('protocol layer')],
      ['mesh_status', 'invalid', expect.stringContaining('protocol layer')],
      [undefined, 'invalid', expect.stringContaining('protocol layer')],
      ['ssh_exec', 'invalid', expect.stringContaining('protocol layer')],
    ]);
  });

  it('never holds a secret, nor do the answer and the log', async () => {
    const answer = await server.call('ssh_exec', { device: 'web-1', command: `echo ${SECRET} ${MESH_KEY}` });
    expect(JSON.stringify(answer)).toContain('[redacted MCP_SECRET] [redacted MESH_API_KEY]');
    for (const text of [server.auditText(), server.output(), JSON.stringify(answer)]) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(MESH_KEY);
    }
  });
});

describe('a result', () => {
  it('holds the same JSON as text', async () => {
    const { content, structuredContent } = await server.call('mesh_status');
    expect(content).toHaveLength(1);
    expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent);
  });
});

describe('many clients at once', () => {
  it('get each its own answer', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => index);
    const answers = await Promise.all(
      ids.map(async (id) => {
        const response = await server.post({
          jsonrpc: '2.0',
          id,
          method: 'tools/call',
          params: { name: 'ssh_exec', arguments: { device: 'web-1', command: `echo ${id}` } },
        });
        const { id: answered, result } = (await response.json()) as {
          id: number;
          result: { structuredContent: { command: string } };
        };
        return [answered, result.structuredContent.command];
      }),
    );
    expect(answers).toEqual(ids.map((id) => [id, `echo ${id}`]));
  });
});
