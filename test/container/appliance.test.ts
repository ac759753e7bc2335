import { describe, expect, it } from 'vitest';

import { call, container, docker, healthy, inside, post, secureFetch, stack, url } from '../support/stack.ts';
import { until } from '../support/until.ts';

/** Whom the server and Chromium run as; root without capabilities may not touch what is theirs. */
const SERVICE = '10001';
const CHROMIUM = '10003';

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe('through Caddy', () => {
  it('the specification’s own curl gets plain JSON with exactly six tools', async () => {
    const response = await post(LIST);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    const { result } = (await response.json()) as { result: { tools: { name: string }[] } };
    expect(result.tools.map(({ name }) => name)).toEqual([
      'ssh_exec',
      'mesh_status',
      'fetch_external',
      'code_search',
      'snippet_kb',
      'browser',
    ]);
  });

  it('/health answers, and nothing does without the secret', async () => {
    const health = await secureFetch(`${stack.base}/health?token=${stack.secret}`);
    expect(Object.keys((await health.json()) as object)).toEqual(['status', 'timestamp', 'dry_run']);
    expect((await secureFetch(`${stack.base}/health`)).status).toBe(401);
    expect((await secureFetch(`${stack.base}/mcp?token=x`, { method: 'POST' })).status).toBe(401);
  });

  it('a body of 5 MiB is refused by the server’s own 413', async () => {
    const response = await post({ ...LIST, padding: 'x'.repeat(5 * 1024 * 1024) });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32000 } });
  });

  it('the audit knows the client by the address that Caddy saw', async () => {
    await call('mesh_status', {});
    const lines = (await inside('server', 'cat /data/audit/service-audit.log', SERVICE))
      .trimEnd()
      .split('\n');
    const { client } = JSON.parse(lines.at(-2) ?? '{}') as { client: { ip: string } };
    const caddy = await docker(
      'inspect',
      '--format',
      '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}',
      container('caddy'),
    );
    expect(client.ip).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
    expect(caddy.trim().split(' ')).not.toContain(client.ip);
  });
});

describe('mesh_status', () => {
  it('reports the devices with their state', async () => {
    const { structuredContent } = await call('mesh_status', {});
    expect(structuredContent).toMatchObject({ total: 3, online: 2 });
    const devices = structuredContent['devices'] as { name: string; online: boolean }[];
    expect(devices.map(({ name, online }) => [name, online])).toEqual([
      ['web-1', true],
      ['db-1', true],
      ['laptop-1', false],
    ]);
  });
});

describe('ssh_exec', () => {
  it.each(['web-1', 'db-1'])('runs a command on %s, by key and by "none"', async (device) => {
    const { structuredContent } = await call('ssh_exec', { device, command: 'hostname; uname -s; id -un' });
    expect(structuredContent).toMatchObject({
      device,
      user: 'demo',
      exit_code: 0,
      signal: null,
      stdout: `${device}\nLinux\ndemo\n`,
      stderr: '',
      timed_out: false,
      dry_run: false,
    });
  });

  it('reports another exit code and standard error as they are', async () => {
    const { isError, structuredContent } = await call('ssh_exec', {
      device: 'web-1',
      command: 'echo no >&2; exit 3',
    });
    expect(isError ?? false).toBe(false);
    expect(structuredContent).toMatchObject({ exit_code: 3, stdout: '', stderr: 'no\n' });
  });

  it('refuses by policy before anything connects', async () => {
    const { isError, structuredContent } = await call('ssh_exec', {
      device: 'web-1',
      command: 'mk"fs" /dev/sda',
    });
    expect(isError ?? false).toBe(false);
    expect(structuredContent).toEqual({ blocked: true, matched_rule: 'mkfs' });
  });

  it('fails at once for a device that is offline or unknown', async () => {
    const offline = await call('ssh_exec', { device: 'laptop-1', command: 'id' });
    expect(offline.structuredContent.error?.code).toBe('device_offline');
    const unknown = await call('ssh_exec', { device: 'web-9', command: 'id' });
    expect(unknown.structuredContent.error).toMatchObject({
      code: 'device_not_found',
      hint: expect.stringContaining('web-1'),
    });
  });

  it('ends the remote process when the client goes away', async () => {
    const controller = new AbortController();
    const running = call(
      'ssh_exec',
      { device: 'db-1', command: 'exec sleep 4242' },
      { signal: controller.signal },
    );
    const processes = () => inside('db-1', 'pgrep -f "[s]leep 4242" || true');
    await until('the command runs', async () => (await processes()).trim() !== '');
    controller.abort();
    await expect(running).rejects.toThrow();
    await until('the command has ended', async () => (await processes()).trim() === '');
  });

  it('keeps the host keys over a restart, and refuses a device whose key changed', async () => {
    await call('ssh_exec', { device: 'db-1', command: 'true' });
    expect(await inside('server', 'wc -l < /data/ssh/known_hosts', SERVICE)).toMatch(/^[1-9]/);
    await inside('db-1', 'mv /var/lib/host-keys/ssh_host_ed25519_key /var/lib/host-keys/old');
    await docker('restart', container('db-1'));
    await until('db-1 is back', () => healthy('db-1'));
    const changed = await call('ssh_exec', { device: 'db-1', command: 'touch /tmp/reached' });
    expect(changed.structuredContent.error?.code).toBe('host_key_changed');
    expect(await inside('db-1', 'ls /tmp')).not.toContain('reached');
    await inside('db-1', 'mv /var/lib/host-keys/old /var/lib/host-keys/ssh_host_ed25519_key');
    await docker('restart', container('db-1'));
    await until('db-1 is back', () => healthy('db-1'));
    expect((await call('ssh_exec', { device: 'db-1', command: 'true' })).structuredContent).toMatchObject({
      exit_code: 0,
    });
  });
});

describe('the containers', () => {
  it('publish no port but Caddy’s', async () => {
    const names = (await docker('compose', 'ps', '--format', '{{.Name}} {{.Publishers}}')).trim().split('\n');
    const publishing = names.filter((line) => /:\d+->/.test(line) || /\{\S+ \d+ [1-9]\d* /.test(line));
    expect(publishing.map((line) => line.split(' ')[0])).toEqual([container('caddy')]);
  });

  it.each(['server', 'caddy', 'chromium'])('%s runs with the least rights', async (service) => {
    const [{ HostConfig: host }] = JSON.parse(await docker('inspect', container(service))) as [
      { HostConfig: Record<string, unknown> },
    ];
    expect(host).toMatchObject({
      ReadonlyRootfs: true,
      Privileged: false,
      CapDrop: ['ALL'],
      SecurityOpt: expect.arrayContaining(['no-new-privileges:true']),
      RestartPolicy: { Name: 'unless-stopped' },
      LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '5' } },
    });
    expect(host['PidsLimit']).toBeGreaterThan(0);
    expect(host['Memory']).toBeGreaterThan(0);
    expect(host['NanoCpus']).toBeGreaterThan(0);
  });

  it('the server has given up root for good, and cannot read its key again', async () => {
    const pid = (await inside('server', 'pidof node | tr " " "\\n" | sort -n | head -1')).trim();
    const status = await inside('server', `cat /proc/${pid}/status`);
    expect(status).toMatch(/^Uid:\s+10001\s+10001\s+10001\s+10001$/m);
    expect(status).toMatch(/^Groups:\s*$/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^CapPrm:\s+0+$/m);
    await expect(inside('server', 'cat /root/.ssh/service-key', SERVICE)).rejects.toThrow(
      /Permission denied/,
    );
    await expect(inside('server', `cat /proc/${pid}/environ`, SERVICE)).rejects.toThrow(/Permission denied/);
  });

  it('have the browser’s tool as a native binary', async () => {
    expect(await inside('server', 'agent-browser --version', SERVICE)).toContain('0.41.2');
    expect(
      await inside('server', 'head -c 4 "$(readlink -f "$(command -v agent-browser)")" | od -An -c'),
    ).toContain('E   L   F');
  });
});

describe('secrets', () => {
  it('stand in no log of any container', async () => {
    // A redaction that knows one spelling of the query leaks with the next one.
    for (const path of [
      `/mcp?token=${stack.secret}`,
      `/.well-known/oauth-protected-resource/mcp?token=${stack.secret}`,
      `/mcp?%74oken=${stack.secret}`,
      `/mcp?Token=${stack.secret}`,
      `/x;token=${stack.secret}`,
      `/health?token=${stack.secret}`,
    ]) {
      await secureFetch(`${stack.base}${path}`, {
        headers: { referer: url, authorization: `Bearer ${stack.secret}` },
      });
    }
    await call('ssh_exec', { device: 'web-1', command: `echo ${stack.secret} ${stack.meshKey}` });
    const logs = await docker('compose', 'logs', '--no-color');
    const audit = await inside('server', 'cat /data/audit/service-audit.log', SERVICE);
    expect(logs.length).toBeGreaterThan(1_000);
    for (const secret of [stack.secret, stack.meshKey, stack.codeHostToken]) {
      expect(logs).not.toContain(secret);
      expect(audit).not.toContain(secret);
    }
  });
});

describe('Chromium', () => {
  it('is in use again by the next call when it was killed', async () => {
    const open = () => call('browser', { action: 'open', url: 'http://demo-site/' });
    expect((await open()).structuredContent).toMatchObject({ title: 'Demo site', status: 200 });
    const kill =
      "for p in /proc/[0-9]*; do grep -qa 'remote-debugging-[p]ort' $p/cmdline && kill -9 ${p#/proc/}; done";
    await inside('chromium', kill, CHROMIUM).catch(() => '');
    await until('its end is seen', async () =>
      (await docker('logs', container('chromium'))).includes('Chromium ended'),
    );
    expect((await open()).structuredContent).toMatchObject({ title: 'Demo site', status: 200 });
  });
});

describe('the four tools that need no device', () => {
  it('fetch_external reads an allowed site and refuses another', async () => {
    const page = await call('fetch_external', { url: 'http://demo-site/', format: 'markdown' });
    expect(page.structuredContent).toMatchObject({ status: 200, truncated: false, token_injected: false });
    expect(page.structuredContent['body']).toContain('# Demo site');
    const refused = await call('fetch_external', { url: 'http://web-1/' });
    expect(refused.structuredContent.error?.code).toBe('domain_not_allowed');
    expect(refused.structuredContent.error?.message).toMatch(/^Domain not allowed/);
  });

  it('code_search finds code', async () => {
    const { structuredContent } = await call('code_search', { query: 'backup' });
    expect(structuredContent['total']).toBeGreaterThan(0);
    expect(structuredContent).toMatchObject({ rate_limit: { remaining: expect.any(Number) } });
  });

  it('snippet_kb finds a note right after it was written, and a restart of the code host keeps it', async () => {
    const files = { 'note.md': 'The heron stands by the pond.' };
    const { structuredContent } = await call('snippet_kb', { action: 'create', title: 'Birds', files });
    const { id } = structuredContent['note'] as { id: string };
    const found = await call('snippet_kb', { action: 'search', query: 'heron' });
    expect((found.structuredContent['notes'] as { id: string }[]).map((note) => note.id)).toEqual([id]);
    await docker('restart', container('demo-apis'));
    await until('the code host is back', () => healthy('demo-apis'));
    const kept = await call('snippet_kb', { action: 'get', id });
    expect(kept.structuredContent).toMatchObject({ note: { id, title: 'Birds', files } });
  });

  it('browser takes a picture of a page', async () => {
    await call('browser', { action: 'open', session: 'picture', url: 'http://demo-site/' });
    const { content } = await call('browser', { action: 'screenshot', session: 'picture' });
    expect(content.map(({ type }) => type)).toEqual(['text', 'image']);
  });
});

// Last: it stops the server.
describe('a stop', () => {
  it('lets the call under way finish, and ends with 0', async () => {
    const running = call('ssh_exec', { device: 'web-1', command: 'sleep 3; echo finished' });
    await until(
      'the command runs',
      async () => (await inside('web-1', 'pgrep -f "[s]leep 3" || true')).trim() !== '',
    );
    await docker('compose', 'stop', 'server');
    expect((await running).structuredContent).toMatchObject({ exit_code: 0, stdout: 'finished\n' });
    expect(await docker('inspect', '--format', '{{.State.ExitCode}}', container('server'))).toBe('0\n');
    await docker('compose', 'start', 'server');
    await until('the server is back', () => healthy('server'));
    expect((await post(LIST)).status).toBe(200);
  });
});
