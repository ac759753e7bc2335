import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { freePort, SECRET } from '../support/server.ts';
import { sshKeyPair } from '../support/ssh-keys.ts';

const MAIN = resolve('src/main.ts');
const KEY = sshKeyPair();

let directory: string;
let children: ChildProcess[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'start-'));
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

interface Started {
  child: ChildProcess;
  output(): string;
  /** Resolves once the output matches; rejects when the process ends first. */
  until(pattern: RegExp): Promise<void>;
  exit: Promise<number | null>;
}

function start(env: Record<string, string>, command: string[] = [process.execPath, MAIN]): Started {
  const [file = '', ...args] = command;
  const child = spawn(file, args, {
    cwd: directory,
    env: { PATH: process.env['PATH'] ?? '', SSH_KEY_PATH: join(directory, 'service-key'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let text = '';
  const wake = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      text += String(chunk);
      for (const look of wake) look();
    });
  }
  const exit = once(child, 'close').then(([code]) => code as number | null);
  return {
    child,
    output: () => text,
    exit,
    until: (pattern) =>
      new Promise((done, fail) => {
        const look = () => pattern.test(text) && done();
        wake.add(look);
        look();
        void exit.then(() => fail(new Error(`ended before ${pattern}: ${text}`)));
      }),
  };
}

const settings = async (): Promise<Record<string, string>> => ({
  MCP_SECRET: SECRET,
  MESH_API_KEY: 'mesh-key-1',
  CODE_HOST_TOKEN: 'host-token-1',
  PROXY_ALLOWED_DOMAINS: 'api.example.org',
  MESH_API_URL: 'http://127.0.0.1:9',
  LISTEN_HOST: '127.0.0.1',
  PORT: String(await freePort()),
});

describe('a start', () => {
  it('announces its address, POST /mcp and GET /health, and ends with 0 on SIGTERM', async () => {
    const env = await settings();
    const server = start(env);
    await server.until(/GET .*\/health/);
    expect(server.output()).toContain(`listens on http://localhost:${env['PORT']}`);
    expect(server.output()).toContain(`POST http://localhost:${env['PORT']}/mcp`);
    expect(server.output()).toContain(`GET  http://localhost:${env['PORT']}/health`);
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
    expect(server.output()).not.toContain(SECRET);
  });

  it('reads .env and service.config.yaml beside it, and lets the environment win', async () => {
    const { MCP_SECRET: _, ...env } = await settings();
    writeFileSync(join(directory, '.env'), `MCP_SECRET=${SECRET}\nPORT=1\n`);
    writeFileSync(join(directory, 'service.config.yaml'), 'dry_run: true\n');
    const server = start(env);
    await server.until(/GET .*\/health/);
    const health = await fetch(`http://127.0.0.1:${env['PORT']}/health?token=${SECRET}`);
    expect(await health.json()).toMatchObject({ dry_run: true });
  });

  it('answers the health command, and fails it when nothing listens', async () => {
    const env = await settings();
    const server = start(env);
    await server.until(/GET .*\/health/);
    const asked = start(env, [process.execPath, MAIN, 'health']);
    expect(await asked.exit).toBe(0);
    expect(asked.output()).toContain('"status":"ok"');
    const wrong = start({ ...env, MCP_SECRET: 'other' }, [process.execPath, MAIN, 'health']);
    expect(await wrong.exit).toBe(1);
    expect(wrong.output()).toContain('HTTP 401');
    const nobody = start({ ...env, PORT: String(await freePort()) }, [process.execPath, MAIN, 'health']);
    expect(await nobody.exit).toBe(1);
  });
});

describe('SIGHUP', () => {
  it('puts a changed policy in force without dropping a connection, and keeps the old one on a fault', async () => {
    const env = await settings();
    const yaml = join(directory, 'service.config.yaml');
    writeFileSync(yaml, 'dry_run: true\nssh:\n  blocked_commands: [mkfs]\n');
    const server = start(env);
    await server.until(/GET .*\/health/);
    const ask = async (command: string) => {
      const response = await fetch(`http://127.0.0.1:${env['PORT']}/mcp?token=${SECRET}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'ssh_exec', arguments: { device: 'web-1', command } },
        }),
      });
      const { result } = (await response.json()) as { result: { structuredContent: { blocked?: boolean } } };
      return result.structuredContent.blocked ?? false;
    };
    expect([await ask('mkfs x'), await ask('dd if=x')]).toEqual([true, false]);

    writeFileSync(yaml, 'dry_run: true\nssh:\n  blocked_commands: [dd]\naudit:\n  log_path: /elsewhere\n');
    server.child.kill('SIGHUP');
    await server.until(/"applied":\["SSH_BLOCKED_COMMANDS"\],"need_restart":\["AUDIT_LOG_PATH"\]/);
    expect([await ask('mkfs x'), await ask('dd if=x')]).toEqual([false, true]);

    writeFileSync(yaml, 'dry_run: maybe\n');
    server.child.kill('SIGHUP');
    await server.until(/the one before stays in force.*dry_run: expected true or false/);
    expect([await ask('mkfs x'), await ask('dd if=x')]).toEqual([false, true]);
  });
});

describe('a refusal to start', () => {
  it('names every missing variable and exits with 1', async () => {
    const server = start({});
    expect(await server.exit).toBe(1);
    expect(server.output()).toBe(
      'Missing required environment variables: MCP_SECRET, MESH_API_KEY, CODE_HOST_TOKEN\n',
    );
  });

  it('says that PORT is in use, without a stack', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const server = start({ ...(await settings()), PORT: String(port) });
    expect(await server.exit).toBe(1);
    expect(server.output()).toMatch(
      new RegExp(
        `^PORT ${port} is already in use on 127\\.0\\.0\\.1\\. Stop what listens there, or set PORT to another one\\.$`,
        'm',
      ),
    );
    expect(server.output()).not.toMatch(/^ +at /m);
    taken.close();
  });

  it('says that the audit log cannot be opened', async () => {
    const server = start({ ...(await settings()), AUDIT_LOG_PATH: directory });
    expect(await server.exit).toBe(1);
    expect(server.output()).toMatch(/^The audit log .* cannot be written \(EISDIR\)/m);
  });

  it('tells an unknown command apart', async () => {
    const server = start(await settings(), [process.execPath, MAIN, 'srve']);
    expect(await server.exit).toBe(2);
    expect(server.output()).toMatch(/^Unknown command: srve\n\nUsage:/);
  });
});

describe('the SSH key', () => {
  const keyPath = () => join(directory, 'service-key');

  it('may be missing, with a warning', async () => {
    const server = start(await settings());
    await server.until(/No SSH key at .*service-key: only devices that accept the SSH method \\"none\\"/);
    await server.until(/GET .*\/health/);
  });

  it('that others can read is set to 600', async () => {
    writeFileSync(keyPath(), KEY.private);
    chmodSync(keyPath(), 0o644);
    const server = start(await settings());
    await server.until(/GET .*\/health/);
    expect(statSync(keyPath()).mode & 0o777).toBe(0o600);
  });

  it.each([
    [
      'is a symbolic link',
      () => symlinkSync('/etc/hostname', keyPath()),
      /is a symbolic link; set SSH_KEY_PATH/,
    ],
    ['is a directory', () => mkdirSync(keyPath()), /is a directory\. A container engine makes one/],
    ['is no key', () => writeFileSync(keyPath(), 'hello', { mode: 0o600 }), /is not a private SSH key/],
    ['is a public key', () => writeFileSync(keyPath(), KEY.public, { mode: 0o600 }), /is a public key/],
    [
      'has a passphrase',
      () => {
        const locked = sshKeyPair('ed25519', {
          passphrase: 'x',
          cipher: 'aes256-ctr',
          rounds: 4,
        });
        writeFileSync(keyPath(), locked.private, { mode: 0o600 });
      },
      /has a passphrase/,
    ],
  ])('that %s stops the start, together with every other fault', async (_, make, message) => {
    make();
    const server = start({ ...(await settings()), DRY_RUN: 'perhaps' });
    expect(await server.exit).toBe(1);
    expect(server.output()).toMatch(message);
    expect(server.output()).toMatch(/^DRY_RUN: expected true or false, got "perhaps"$/m);
  });
});

describe('a full disk', () => {
  it('refuses the calls that it cannot record', async () => {
    // A limit on the size of files is met like a full disk: the kernel refuses the write (EFBIG).
    const env = await settings();
    const audit = join(directory, 'audit.log');
    writeFileSync(audit, `${' '.repeat(1023)}\n`.repeat(2));
    const server = start({ ...env, AUDIT_LOG_PATH: audit, DRY_RUN: 'true' }, [
      'bash',
      '-c',
      `ulimit -f 2; exec "${process.execPath}" "${MAIN}"`,
    ]);
    await server.until(/GET .*\/health/);
    const response = await fetch(`http://127.0.0.1:${env['PORT']}/mcp?token=${SECRET}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'ssh_exec', arguments: { device: 'web-1', command: 'id' } },
      }),
    });
    const { result } = (await response.json()) as {
      result: { isError: boolean; structuredContent: unknown };
    };
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toEqual({
      error: {
        code: 'internal',
        message: `The audit log ${audit} cannot be written (EFBIG), and without a record no call is run.`,
        hint: 'Make the file writable or free disk space on the server, then call again.',
      },
    });
  });
});
