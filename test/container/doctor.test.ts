import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { describe, expect, it, onTestFinished } from 'vitest';

import type { Finding } from '../../src/cli/doctor/report.ts';
import { call, container, docker, healthy, inside, stack } from '../support/stack.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const SERVICE = '10001';
const CHROMIUM_IMAGE = 'remote-tool-server/chromium:0.1.0';

interface Report {
  code: number;
  text: string;
  of: (name: string) => Finding[];
}

/** As an operator asks: `docker compose exec server remote-tool-server doctor`. */
async function ask(...options: string[]): Promise<Report> {
  const args = ['exec', ...options, container('server'), 'remote-tool-server', 'doctor', '--json'];
  const { stdout, code } = await run('docker', args).then(
    (done) => ({ ...done, code: 0 }),
    (error: unknown) => error as { stdout: string; code: number },
  );
  const findings = JSON.parse(stdout) as Finding[];
  return { code, text: stdout, of: (name) => findings.filter((finding) => finding.name === name) };
}

/** Asks until the browser is there and has time to try: on a busy machine it says that it had none. */
async function askIdleBrowser(...options: string[]): Promise<Report> {
  let report = await ask(...options);
  const idle = ({ of }: Report) =>
    of('browser')[0]?.status === 'ok' && !/busy|within/.test(of('browser containment')[0]?.detail ?? '');
  await until('the browser has time', async () => idle(report) || idle((report = await ask(...options))));
  return report;
}

const sums = () =>
  inside('server', 'cd /data && sha256sum audit/service-audit.log ssh/known_hosts; find . | sort', SERVICE);

describe('the doctor beside the server', () => {
  it('finds all of the demo well, as root without capabilities, and changes nothing', async () => {
    for (const device of ['web-1', 'db-1']) await call('ssh_exec', { device, command: 'true' });
    // The audit's head follows within a second.
    let before = await sums();
    await until('the audit log is at rest', async () => before === (before = await sums()));

    const { code, text, of } = await askIdleBrowser();
    expect(JSON.parse(text)).toEqual([
      { name: 'configuration', status: 'ok', detail: 'complete (environment, no YAML file)' },
      { name: 'secret', status: 'ok', detail: '64 characters, no weakness seen' },
      { name: 'SSH key', status: 'ok', detail: 'readable, permissions 600' },
      { name: 'SSH host keys', status: 'ok', detail: 'kept in /data/ssh/known_hosts' },
      {
        name: 'mesh API',
        status: 'ok',
        detail: 'tailscale accepts the key and lists devices: 2 of 3 online',
      },
      { name: 'code host', status: 'ok', detail: 'demo-apis:8080 accepts the token' },
      { name: 'code host scopes', status: 'ok', detail: 'gist, repo' },
      {
        name: 'browser CLI',
        status: 'ok',
        detail: expect.stringMatching(
          /^agent-browser 0\.41\.2 \(\/usr\/local\/lib\/.*\/agent-browser-linux-\w+\)$/,
        ),
      },
      {
        name: 'browser',
        status: 'ok',
        detail: expect.stringMatching(/^HeadlessChrome\/\d+\.\S+ at http:\/\/[\d.]+:9222$/),
      },
      {
        name: 'browser containment',
        status: 'ok',
        detail: expect.stringMatching(/^pages are refused localhost:3000, .*, 169\.254\.169\.254$/),
      },
      {
        name: 'audit',
        status: 'ok',
        detail: expect.stringMatching(/^\/data\/audit\/service-audit\.log is writable, last written 20\d\d-/),
      },
      { name: 'audit chain', status: 'ok', detail: expect.stringMatching(/^holds; records: \d+$/) },
      {
        name: 'disk space',
        status: expect.any(String),
        detail: expect.stringContaining('MiB free at /data/audit'),
      },
      { name: 'clock', status: 'ok', detail: 'right within 30 s by the clock of demo-apis:8080' },
      {
        name: 'TLS certificate',
        status: 'ok',
        detail: expect.stringMatching(/^for localhost at caddy:443: \d+ h left$/),
      },
      {
        name: 'SSH web-1',
        status: 'ok',
        detail: expect.stringMatching(/^demo at [\d.]+ logs in by the key; host key known$/),
      },
      {
        name: 'SSH db-1',
        status: 'ok',
        detail: expect.stringMatching(/^demo at [\d.]+ logs in by the method "none"; host key known$/),
      },
    ]);
    expect(of('disk space')[0]?.status).not.toBe('fail');
    expect(code).toBe(0);
    expect(await sums()).toBe(before);
    for (const secret of [stack.secret, stack.meshKey, stack.codeHostToken])
      expect(text).not.toContain(secret);
  });

  it('says so where it was started as the wrong user for the key', async () => {
    const { code, of } = await ask('--user', 'service');
    expect(of('SSH key')[0]).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('cannot be read (EACCES)'),
      mend: expect.stringContaining('as root, without --user'),
    });
    expect(code).toBe(1);
  });

  it('finds a device that hangs, and is done in time', async () => {
    await docker('pause', container('web-1'));
    onTestFinished(async () => void (await docker('unpause', container('web-1'))));
    const { code, of } = await ask();
    expect(of('SSH web-1')[0]).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(
        /^Connection timed out: no login at web-1 \([\d.]+, port 22\) within 4\.5 s\.$/,
      ),
      mend: expect.stringContaining('mesh_status'),
    });
    expect(of('SSH db-1')[0]?.status).toBe('ok');
    expect(code).toBe(1);
  });

  it('finds a device whose host key changed, and one that is new', async () => {
    await call('ssh_exec', { device: 'db-1', command: 'true' });
    await inside('db-1', 'rm /var/lib/host-keys/*');
    await docker('restart', container('db-1'));
    await until('db-1 is back', () => healthy('db-1'));
    onTestFinished(async () => void (await inside('server', 'rm -f /data/ssh/known_hosts', SERVICE)));
    expect((await ask()).of('SSH db-1')[0]).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/^The host key of db-1 changed: \/data\/ssh\/known_hosts, line \d+ has /),
      mend: expect.stringMatching(/the operator removes line \d+ from \/data\/ssh\/known_hosts/),
    });

    await inside('server', 'rm /data/ssh/known_hosts', SERVICE);
    const { of } = await ask();
    expect(of('SSH host keys')[0]?.detail).toBe('none yet; they will be kept in /data/ssh/known_hosts');
    expect(of('SSH db-1')[0]).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/host key new: /),
    });
    expect(await inside('server', 'ls /data/ssh', SERVICE)).toBe('');
  });

  it('finds a secret and settings that are odd', async () => {
    const { of } = await ask('--env', 'MCP_SECRET=changeme', '--env', 'PROXY_ALLOWED_DOMAINS=');
    expect(of('secret')[0]).toMatchObject({
      status: 'warn',
      mend: expect.stringContaining('openssl rand -hex 32'),
    });
    expect(of('configuration')[1]).toMatchObject({ status: 'warn' });
    // The log was written with another secret.
    expect(of('audit chain')[0]?.status).toBe('warn');
  });
});

describe('the browser’s containment', () => {
  it('without the proxy: no page opens, and that is what it says', async () => {
    await docker('stop', container('egress'));
    onTestFinished(async () => {
      await docker('start', container('egress'));
      await until('egress is back', () => healthy('egress'));
    });
    expect((await askIdleBrowser()).of('browser containment')[0]).toMatchObject({
      status: 'fail',
      detail: 'the browser’s proxy does not answer, so no page opens at all',
      mend: expect.stringContaining('docker compose up -d egress'),
    });
  });

  // The check would be worth nothing if it called any failure to load a refusal.
  it('around a Chromium that nothing contains: its pages reach the server', async () => {
    const name = `${stack.project}-open-chromium`;
    const command = `/usr/lib/chromium/chromium-headless-shell --no-sandbox --remote-debugging-port=9223 \
      --user-data-dir=/tmp/profile & exec socat TCP-LISTEN:9222,fork,reuseaddr TCP:127.0.0.1:9223`;
    await docker(
      ...['run', '--detach', '--rm', '--name', name, '--network', `${stack.project}_browser`],
      ...['--shm-size', '256m', '--entrypoint', 'sh', CHROMIUM_IMAGE, '-c', command],
    );
    onTestFinished(async () => void (await docker('rm', '--force', name)));
    const port = ['--env', `BROWSER_CDP_HOST=${name}`];
    const { code, of } = await askIdleBrowser(...port);
    expect(of('browser containment')[0]).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/^a page reached http:\/\/\S+:3000\/health \(HTTP 401\)$/),
      mend: expect.stringContaining('filtering proxy'),
    });
    expect(code).toBe(1);
  });
});
