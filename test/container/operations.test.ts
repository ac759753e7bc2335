import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { call, container, docker, hangUp, secureFetch, stack } from '../support/stack.ts';
import { until } from '../support/until.ts';

const YAML = join(stack.composeEnv['CONFIG_DIR'] ?? '', 'service.config.yaml');
const logs = () => docker('logs', container('server'));
const times = (text: string, part: string) => text.split(part).length - 1;

describe('GET /metrics', () => {
  it('counts what went through the stack, for those who have the secret', async () => {
    await call('mesh_status', {});
    await call('ssh_exec', { device: 'web-1', command: 'mkfs /dev/sda' });
    await call('ssh_exec', { device: 'web-1', command: 'true' });
    await call('code_search', { query: 'backup' });
    await call('browser', { action: 'open', session: 'metrics', url: 'http://demo-site/' });
    expect((await secureFetch(`${stack.base}/metrics`)).status).toBe(401);
    const text = await (await secureFetch(`${stack.base}/metrics?token=${stack.secret}`)).text();
    for (const line of [
      /^remote_tool_server_calls_total\{tool="mesh_status",outcome="ok",error_code=""\} [1-9]/m,
      /^remote_tool_server_refusals_total\{tool="ssh_exec",rule="blocked: mkfs"\} [1-9]/m,
      /^remote_tool_server_call_duration_seconds_count\{tool="ssh_exec"\} [1-9]/m,
      /^remote_tool_server_ssh_connections [1-9]/m,
      /^remote_tool_server_jobs_running 0$/m,
      /^remote_tool_server_ssh_commands_unfinished 0$/m,
      /^remote_tool_server_browser_sessions [1-9]/m,
      /^remote_tool_server_code_host_code_search_remaining \d/m,
    ]) {
      expect(text).toMatch(line);
    }
  });
});

describe('SIGHUP', () => {
  const reload = async () => {
    const before = times(await logs(), 'configuration read again');
    await hangUp();
    await until('it is read again', async () => times(await logs(), 'configuration read again') > before);
  };
  const isDry = async () =>
    (await call('ssh_exec', { device: 'web-1', command: 'true' })).structuredContent['dry_run'];

  it('puts a changed YAML file in force, and its absence again', async () => {
    expect(await isDry()).toBe(false);
    writeFileSync(YAML, 'dry_run: true\n', { mode: 0o644 });
    await reload();
    expect(await isDry()).toBe(true);
    rmSync(YAML);
    await reload();
    expect(await isDry()).toBe(false);
  });
});

describe('docker compose config', () => {
  it('has nothing to complain of', async () => {
    expect(await docker('compose', 'config', '--quiet')).toBe('');
  });
});
