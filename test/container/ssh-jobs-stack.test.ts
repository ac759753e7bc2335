import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';

import { call, docker, healthy, inside, secureFetch, url } from '../support/stack.ts';
import { until } from '../support/until.ts';

const SERVICE = '10001';

interface Reading {
  job: string;
  running: boolean;
  stdout: string;
}

const exec = async (args: Record<string, unknown>) =>
  (await call('ssh_exec', args)).structuredContent as unknown as Reading;
const found = (text: string) => inside('web-1', `pgrep -f '^${text}' || true`);

it('a command started through Caddy goes on after its answer, is followed, and ended', async () => {
  const started = await exec({ device: 'web-1', command: 'echo begun; sleep 4341', wait_seconds: 1 });
  expect(started).toMatchObject({ running: true, exit_code: null, stdout: 'begun\n' });
  expect(await exec({ job: started.job, wait_seconds: 1 })).toMatchObject({ running: true, stdout: '' });
  expect(await exec({ job: started.job, cancel: true })).toMatchObject({
    running: false,
    reason: 'cancelled by a call',
    hint: 'The command was ended on the device.',
  });
  expect(await found('sleep 4341')).toBe('');
});

it.each([{ pin: '2026-07-28' }, 'legacy'] as const)(
  'the official client gets new lines as progress while its call waits (%s)',
  async (mode) => {
    const client = new Client({ name: 'job-test', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: secureFetch }));
    const told: string[] = [];
    await inside('web-1', 'rm -f /tmp/go-progress');
    const command = 'echo one; until [ -e /tmp/go-progress ]; do sleep 0.05; done; echo two';
    const waiting = client.callTool(
      { name: 'ssh_exec', arguments: { device: 'web-1', command, wait_seconds: 50 } },
      { onprogress: ({ message }) => void told.push(message ?? '') },
    );
    await until('the first line is told', async () => told.includes('one'));
    await inside('web-1', 'touch /tmp/go-progress');
    expect((await waiting).structuredContent).toMatchObject({ exit_code: 0, stdout: 'one\ntwo\n' });
    await client.close();
  },
);

it('a server that stops ends its jobs and leaves that in the audit log', async () => {
  const { job } = await exec({
    device: 'db-1',
    command: 'sleep 4342',
    wait_seconds: 0,
    timeout_seconds: 3600,
  });
  await until('the command runs', async () => (await inside('db-1', "pgrep -f '^sleep 4342'")) !== '');
  await docker('compose', 'stop', 'server');
  expect(await inside('db-1', "pgrep -f '^sleep 4342' || true")).toBe('');
  await docker('compose', 'start', 'server');
  await until('the server is back', () => healthy('server'));

  const lines = (await inside('server', 'cat /data/audit/service-audit.log', SERVICE)).split('\n');
  const ended = lines.filter((line) => line.includes('"event":"ended"') && line.includes(job));
  expect(ended.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    {
      tool: 'ssh_exec',
      outcome: 'error',
      error_code: 'cancelled',
      message: 'the server stopped',
      exit_code: null,
    },
  ]);
  expect((await call('ssh_exec', { job })).structuredContent.error).toMatchObject({ code: 'not_found' });
});
