import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { createServer } from 'node:tls';

import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import { checkCertificate } from '../../src/cli/doctor/certificate.ts';
import type { Finding } from '../../src/cli/doctor/report.ts';
import { CLASSIC, createPatient, MESH_KEY, type Patient, SECRET } from '../support/doctor.ts';
import { createAuthority } from '../support/fetch-ca.ts';
import { freePort } from '../support/server.ts';

let patient: Patient;
let env: Patient['env'];
beforeEach(async () => {
  patient = await createPatient();
  ({ env } = patient);
});
afterEach(() => patient.close());

it('is content with what is well, and says what it found', async () => {
  const { code, of } = await patient.examine();
  expect(of('configuration')).toEqual([
    { name: 'configuration', status: 'ok', detail: 'complete (environment, no YAML file)' },
  ]);
  expect(of('secret')).toEqual([{ name: 'secret', status: 'ok', detail: '64 characters, no weakness seen' }]);
  expect(of('SSH key')).toEqual([{ name: 'SSH key', status: 'ok', detail: 'readable, permissions 600' }]);
  expect(of('mesh API')[0]).toMatchObject({
    status: 'ok',
    detail: 'tailscale accepts the key and lists devices: 0 of 0 online',
  });
  expect(of('code host')[0]).toMatchObject({
    status: 'ok',
    detail: expect.stringMatching(/ accepts the token$/),
  });
  expect(of('code host scopes')).toEqual([{ name: 'code host scopes', status: 'ok', detail: 'gist, repo' }]);
  expect(of('clock')[0]).toMatchObject({
    status: 'ok',
    detail: expect.stringMatching(/^right within 30 s /),
  });
  expect(of('TLS certificate')).toHaveLength(1);
  // Neither a command-line tool nor a browser is here.
  expect(code).toBe(1);
});

describe('the configuration', () => {
  it('with faults shows all of them at once, and what does not depend on it', async () => {
    Object.assign(env, { MESH_API_KEY: '', PORT: 'x', SSH_ALLOWED_DIRS: 'srv' });
    const { code, of } = await patient.examine();
    expect(of('configuration').map(({ status, detail }) => [status, detail])).toEqual([
      ['fail', 'Missing required environment variables: MESH_API_KEY'],
      ['fail', 'PORT: expected a whole number from 1 to 65535, got "x"'],
      ['fail', 'SSH_ALLOWED_DIRS: expected a comma-separated list of absolute directories, got "srv"'],
    ]);
    expect(of('SSH key')[0]?.status).toBe('ok');
    expect(of('all else')[0]).toMatchObject({ status: 'warn', detail: 'not looked at' });
    expect(code).toBe(1);
  });

  it('that is odd is a warning; the file it came from is named', async () => {
    Object.assign(env, { PROXY_ALLOWED_DOMAINS: '', MCP_SECRET_PREVIOUS: 'f'.repeat(64) });
    const { of } = await patient.examine({ readYaml: () => ({ name: 'my.yaml', text: 'dry_run: true\n' }) });
    expect(of('configuration').map(({ status, detail }) => [status, detail])).toEqual([
      ['ok', 'complete (environment and my.yaml), dry run on: ssh_exec runs nothing'],
      ['warn', 'PROXY_ALLOWED_DOMAINS is empty: every fetch_external call will be refused.'],
      ['warn', 'MCP_SECRET_PREVIOUS is set: the old secret is still accepted. Empty it to end the rotation.'],
    ]);
  });

  it('whose file cannot be read is a failure', async () => {
    const { of } = await patient.examine({
      readYaml: () => {
        throw new Error('EACCES: permission denied');
      },
    });
    expect(of('configuration')[0]).toMatchObject({
      status: 'fail',
      detail: 'The YAML file cannot be read: EACCES: permission denied',
      mend: 'Make the file at SERVICE_CONFIG_PATH readable for the server, or remove it.',
    });
  });
});

describe('the SSH key', () => {
  it('that others could read is said to have been mended', async () => {
    chmodSync(join(patient.directory, 'key'), 0o644);
    const { of } = await patient.examine();
    expect(of('SSH key')[0]).toMatchObject({
      status: 'ok',
      detail: 'readable; its permissions were 644 and are 600 now',
    });
  });

  it.each([
    ['missing', 'warn', 'no file at ', 'make a key'],
    ['a directory', 'fail', 'is a directory', 'does not start'],
    ['not a key', 'fail', 'is not a private SSH key', 'Put a private key without a passphrase there.'],
  ])('%s', async (what, status, detail, mend) => {
    rmSync(join(patient.directory, 'key'));
    if (what === 'a directory') mkdirSync(join(patient.directory, 'key'));
    if (what === 'not a key') writeFileSync(join(patient.directory, 'key'), 'hello', { mode: 0o600 });
    const { of } = await patient.examine();
    expect(of('SSH key')).toEqual([
      {
        name: 'SSH key',
        status,
        detail: expect.stringContaining(detail),
        mend: expect.stringContaining(mend),
      },
    ]);
  });
});

describe('the TLS certificate', () => {
  it('is the one for the public name, from the first door that answers', async () => {
    const certificate = await (await createAuthority()).issue('localhost');
    const server = createServer(certificate).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const closed = await freePort();
    expect(await checkCertificate('localhost', [`127.0.0.1:${closed}`, `127.0.0.1:${port}`])).toEqual({
      name: 'TLS certificate',
      status: 'ok',
      detail: expect.stringMatching(
        new RegExp(`^for localhost at 127\\.0\\.0\\.1:${port}: (?:23 h|1 days) left$`),
      ),
    });
    expect(await checkCertificate('mcp.example.org', [`127.0.0.1:${port}`])).toMatchObject({
      status: 'fail',
    });
    expect(await checkCertificate('mcp.example.org', [`127.0.0.1:${closed}`])).toMatchObject({
      status: 'warn',
      detail: `not looked at: nothing speaks TLS at 127.0.0.1:${closed}`,
    });
  });
});

describe('the command', () => {
  const run = (...args: string[]) =>
    new Promise<{ code: number | string | undefined; stdout: string; stderr: string }>((done) => {
      execFile(
        process.execPath,
        [resolve('src/main.ts'), 'doctor', ...args],
        { cwd: patient.directory, env },
        (error, stdout, stderr) => done({ code: error?.code ?? 0, stdout, stderr }),
      );
    });

  it('prints a line each and exits with 1 on a fail; --json prints the same as one array', async () => {
    const { code, stdout } = await run();
    expect(code).toBe(1);
    for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^(?:ok {4}|warn {2}|fail {2})\S/);
    expect(stdout).toContain(
      '\nfail  browser CLI: Tool not found: agent-browser is not installed on the server. → Install it on the server: npm i -g agent-browser@0.41.2\n',
    );
    const json = await run('--json');
    expect(json.code).toBe(1);
    const names = (JSON.parse(json.stdout) as Finding[]).map(({ name }) => name);
    expect(names).toEqual(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.slice(6).split(':')[0]),
    );
  });

  // What others say may hold a secret; no check is trusted to take it out by itself.
  it('takes secrets out of every line, also where the configuration cannot be loaded', async () => {
    const { text } = await patient.examine({ warnings: [`the secret is ${SECRET}`] });
    expect(text).toContain('the secret is [redacted MCP_SECRET]');
    const readYaml = () => {
      throw new Error(`line 3: ${SECRET}`);
    };
    expect((await patient.examine({ readYaml })).text).toContain('line 3: [redacted MCP_SECRET]');
  });

  // A tool of this kind printed the API's error with the request's headers in it.
  it('holds no secret in any form, whatever fails', async () => {
    Object.assign(env, { MESH_API_KEY: `${MESH_KEY}-wrong`, CODE_HOST_TOKEN: `${CLASSIC}wrong` });
    patient.control.fail('mesh', { status: 500, body: { message: `you sent ${MESH_KEY}-wrong` } });
    patient.control.fail('code_host', { status: 403, body: { message: `no: ${CLASSIC}wrong` } });
    const { stdout, stderr } = await run();
    expect(stdout).toContain('fail  mesh API');
    expect(stdout + stderr).not.toContain(SECRET);
    expect(stdout + stderr).not.toContain(MESH_KEY);
    expect(stdout + stderr).not.toContain(CLASSIC);
    expect(stdout + stderr).not.toContain(Buffer.from(`${MESH_KEY}-wrong:`).toString('base64'));
  });

  it('with an unknown argument, or a user that it cannot become, looks at nothing', async () => {
    expect(await run('--jsno')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'doctor: unknown argument --jsno; it knows --json\n',
    });
    if (process.getuid?.() !== 0) return;
    Object.assign(env, { RUN_AS: 'service' });
    expect(await run()).toMatchObject({
      code: 1,
      stdout: 'fail  configuration: RUN_AS: expected uid:gid, both numbers above 0\n',
    });
  });
});
