import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';

import { SECRET } from '../support/server.ts';
import { NONE, kill, processes, startDevice } from './ssh/device.ts';
import {
  type Answer,
  device,
  exec,
  readToEnd,
  running,
  server,
  serverFor,
  start,
  touch,
  waitFor,
  useJobs,
} from './ssh/jobs.ts';
import { until } from './ssh/rig.ts';

useJobs();

describe('a client that goes away', () => {
  const request = (args: object, signal?: AbortSignal) =>
    fetch(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 7,
        method: 'tools/call',
        params: { name: 'ssh_exec', arguments: { device: 'web-1', ...args } },
      }),
      ...(signal && { signal }),
    });

  it('before its call became a job, ends the command', async () => {
    const client = new AbortController();
    const call = request(
      { command: 'sleep 4334 & wait', wait_seconds: 600, timeout_seconds: 900 },
      client.signal,
    );
    await running('sleep 4334');
    client.abort();
    await expect(call).rejects.toThrow();
    await until(
      () => processes(device, 'sleep 4334'),
      (found) => found === '',
    );
    await until(
      () => server.audit().at(-1),
      (last) => last?.event === 'outcome' && last.error_code === 'cancelled',
    );
    expect((await exec({ job: 'list' })).jobs?.filter(({ ended_at: end }) => end === null)).toEqual([]);
  });

  it('after it, leaves the job alone', async () => {
    const response = await request({ command: 'sleep 4335', wait_seconds: 0 });
    const { result } = (await response.json()) as { result: { structuredContent: Answer } };
    const { job } = result.structuredContent;
    expect(await exec({ job, wait_seconds: 1 })).toMatchObject({ running: true });
    await running('sleep 4335');
  });

  it('while it waits for output, takes none of it along', async () => {
    const started = await start({ command: `${waitFor('/tmp/go-lost')}; echo kept` });
    const client = new AbortController();
    const before = server.audit().length;
    const call = request({ device: undefined, job: started.job, wait_seconds: 600 }, client.signal);
    await until(
      () => server.audit().length,
      (count) => count > before,
    );
    client.abort();
    await expect(call).rejects.toThrow();
    await until(
      () => server.audit().at(-1),
      (last) => last?.event === 'outcome' && last.error_code === 'cancelled',
    );
    await touch('/tmp/go-lost');
    expect((await readToEnd(started)).stdout).toBe('kept\n');
  });
});

describe('progress', () => {
  it('carries new lines to a client that asked for it, without the server’s secrets', async () => {
    const client = new Client(
      { name: 'job-test', version: '1.0.0' },
      { versionNegotiation: { mode: 'auto' } },
    );
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    const told: string[] = [];
    const command = `echo one; ${waitFor('/tmp/go-p1')}; echo ${SECRET}; ${waitFor('/tmp/go-p2')}`;
    const call = client.callTool(
      { name: 'ssh_exec', arguments: { device: 'web-1', command, wait_seconds: 600, timeout_seconds: 900 } },
      { onprogress: ({ message }) => void told.push(message ?? '') },
    );
    await until(
      () => told,
      (all) => all.length === 1,
    );
    await touch('/tmp/go-p1');
    await until(
      () => told,
      (all) => all.length === 2,
    );
    await touch('/tmp/go-p2');
    expect((await call).structuredContent).toMatchObject({ exit_code: 0 });
    expect(told).toEqual(['one', '[redacted MCP_SECRET]']);
    await client.close();
  });

  it('is at most two messages a second of at most 1,000 characters', async () => {
    const client = new Client({ name: 'job-test', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    const told: string[] = [];
    const { structuredContent } = await client.callTool(
      { name: 'ssh_exec', arguments: { device: 'web-1', command: 'seq 200000; sleep 0.6; seq 10; exit 7' } },
      { onprogress: ({ message }) => void told.push(message ?? '') },
    );
    const { duration_ms: duration, exit_code: code } = structuredContent as {
      duration_ms: number;
      exit_code: number;
    };
    expect(code).toBe(7);
    expect(told.length).toBeGreaterThan(0);
    expect(told.length).toBeLessThanOrEqual(1 + Math.ceil(duration / 500));
    expect(Math.max(...told.map(({ length }) => length))).toBeLessThanOrEqual(1000);
    await client.close();
  });
});

describe('a job whose device dies', () => {
  it('is an error with what had arrived, and stays one', async () => {
    const victim = await startDevice(...NONE);
    const own = await serverFor(victim);
    const started = await start({ command: 'echo begun; sleep 4336' }, own);
    await until(
      () => processes(victim, '^sleep 4336'),
      (found) => found !== '',
    );
    await kill(victim);
    const failed = async () => {
      const { jobs = [] } = await exec({ job: 'list' }, own);
      return jobs[0]?.ended_at;
    };
    await until(failed, (end) => typeof end === 'string');
    const { isError, error } = await exec({ job: started.job }, own);
    expect(isError).toBe(true);
    expect(error).toMatchObject({
      code: 'ssh_unreachable',
      message: 'The connection to web-1 (127.0.0.1) was lost mid-command; its outcome is unknown.',
      hint: 'The command may have ended, or still be running there. Look at the device before repeating it.',
      job: started.job,
      running: false,
    });
    expect(started.stdout + error?.stdout).toBe('begun\n');
    expect((await exec({ job: started.job }, own)).error).toMatchObject({
      code: 'ssh_unreachable',
      stdout: '',
    });
    expect(own.audit().filter(({ event }) => event === 'ended')).toMatchObject([
      { outcome: 'error', error_code: 'ssh_unreachable', exit_code: null, job: started.job },
    ]);
    await own.close();
    await victim.stop();
  });
});

describe('a server that stops', () => {
  it('lets jobs end for ten seconds, then ends them and says so in the audit log', async () => {
    const own = await serverFor(device);
    const short = await start({ command: `${waitFor('/tmp/go-stop')}; exit 8` }, own);
    const long = await start(
      { command: 'sleep 4337 & sleep 4337', user: 'root', timeout_seconds: 3600 },
      own,
    );
    await running('sleep 4337', 2);
    const begun = performance.now();
    const stopped = own.stop();
    await touch('/tmp/go-stop');
    await stopped;
    expect(performance.now() - begun).toBeGreaterThanOrEqual(9_990);
    expect(await processes(device, 'sleep 4337')).toBe('');
    const ended = own.audit().filter(({ event }) => event === 'ended');
    expect(ended).toMatchObject([
      { job: short.job, outcome: 'ok', exit_code: 8 },
      { job: long.job, outcome: 'error', error_code: 'cancelled', message: 'the server stopped' },
    ]);
    expect(ended[0]).not.toHaveProperty('message');
    await own.close();
  });
});
