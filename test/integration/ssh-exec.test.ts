import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';

import ssh2 from 'ssh2';
import { afterEach, describe, expect, it } from 'vitest';

import { type Rig, createRig } from '../container/ssh/rig.ts';
import { sshKeyPair } from '../support/ssh-keys.ts';

const HOST_KEY = sshKeyPair().private;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

type Listener = Pick<Server, 'listen' | 'close' | 'address'>;

async function listening(server: Listener): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server as Server, 'listening');
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

function rigAt(port: number, ...rest: [Parameters<typeof createRig>[2]?, string?]): Rig {
  const rig = createRig('127.0.0.1', port, ...rest);
  closers.push(() => rig.close());
  return rig;
}

/** A server that accepts connections and keeps them; what it was sent is in `sockets`. */
async function silentServer() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => {})));
  const port = await listening(server);
  closers.push(() => sockets.forEach((socket) => socket.destroy()));
  return { port, sockets, server };
}

async function sshServer(onClient: (client: ssh2.Connection) => void, banner?: string): Promise<number> {
  const clients: ssh2.Connection[] = [];
  const server = new ssh2.Server(
    { hostKeys: [HOST_KEY], ...(banner !== undefined && { banner }) },
    (client) => {
      clients.push(client.on('error', () => {}));
      onClient(client);
    },
  );
  closers.push(() => clients.forEach((client) => client.end()));
  return listening(server as unknown as Listener);
}

describe('a device that cannot be reached', () => {
  it('refuses: the message begins with the words of the specification', async () => {
    const { port, server } = await silentServer();
    server.close();
    const { isError, error } = await rigAt(port).exec({ command: 'id' });
    expect(isError).toBe(true);
    expect(error).toEqual({
      code: 'ssh_unreachable',
      message: `Connection refused by web-1 (127.0.0.1, port ${port}).`,
      hint: 'Is the mesh network’s SSH feature (or an SSH server) on at the device, and is this server’s host a member of the mesh? `mesh_status` shows the device.',
    });
  });

  it('accepts and says nothing: an error after the time allowed', async () => {
    const { port } = await silentServer();
    const { error } = await rigAt(port, { connectTimeoutSeconds: 1 }).exec({ command: 'id' });
    expect(error).toMatchObject({
      code: 'ssh_unreachable',
      message: `Connection timed out: no login at web-1 (127.0.0.1, port ${port}) within 1 s.`,
    });
  });

  it('hangs up before the login', async () => {
    const port = await listening(createServer((socket) => void socket.end()));
    const { error } = await rigAt(port).exec({ command: 'id' });
    expect(error).toMatchObject({ code: 'ssh_unreachable' });
    expect(error?.message).toMatch(/^Cannot connect to web-1 \(127\.0\.0\.1, port \d+\): /);
  });

  it('is no SSH server', async () => {
    const port = await listening(
      createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    const { error } = await rigAt(port).exec({ command: 'id' });
    expect(error).toMatchObject({ code: 'ssh_unreachable' });
  });

  it('is offline: nothing connects', async () => {
    const { port, sockets } = await silentServer();
    const { error } = await rigAt(port).exec({ device: 'laptop-1', command: 'id' });
    expect(error).toEqual({
      code: 'device_offline',
      message: 'laptop-1 is offline.',
      hint: 'Nothing was sent. mesh_status with online_only lists the devices that can be reached.',
    });
    expect(sockets).toHaveLength(0);
  });

  it('hangs while the client cancels: the connection is given up', async () => {
    const { port, sockets, server } = await silentServer();
    const controller = new AbortController();
    const call = rigAt(port).exec({ command: 'id' }, controller.signal);
    await once(server, 'connection');
    controller.abort();
    expect((await call).error).toMatchObject({ code: 'cancelled' });
    sockets[0]?.resume();
    await once(sockets[0] as Socket, 'close');
  });
});

describe('a device that says no', () => {
  // Servers of the mesh’s SSH feature say why in a banner and hang up: no SSH error, only a close. Calls hung.
  it('by a banner and a hang-up: its words are in the error', async () => {
    const port = await sshServer((client) => {
      client.on('authentication', () => client.end());
    }, 'tailnet policy does not permit you to SSH as user demo\r\n');
    const { error } = await rigAt(port).exec({ command: 'id' });
    expect(error).toMatchObject({
      code: 'ssh_auth_failed',
      message: `Authentication failed for demo at web-1 (127.0.0.1, port ${port}): tried "none". The server has no SSH key. The device says: tailnet policy does not permit you to SSH as user demo`,
    });
  });

  it('until a person approves: the link is in the hint', async () => {
    const banner =
      '# Tailscale SSH requires an additional check.\n# To authenticate, visit: https://login.example.com/a/1f\n';
    const port = await sshServer((client) => client.on('authentication', () => {}), banner);
    const { error } = await rigAt(port, { connectTimeoutSeconds: 1 }).exec({ command: 'id' });
    expect(error).toMatchObject({
      code: 'ssh_auth_failed',
      hint: 'A person has to approve the login first: open https://login.example.com/a/1f, then repeat the call.',
    });
  });

  it('to a key that is none: the fault is named, "none" was tried', async () => {
    const port = await sshServer((client) => client.on('authentication', (context) => context.reject()));
    const { error } = await rigAt(port, {}, 'no key').exec({ command: 'id' });
    expect(error?.message).toContain('tried "none". The file at SSH_KEY_PATH is not a private SSH key');
  });

  it('to the command', async () => {
    const port = await sshServer((client) => {
      client.on('authentication', (context) => context.accept());
      client.on('session', (accept) => accept().on('exec', (_accept, reject) => reject()));
    });
    const { error } = await rigAt(port).exec({ command: 'id' });
    expect(error).toMatchObject({
      code: 'ssh_unreachable',
      message: 'web-1 (127.0.0.1) does not run commands for demo: Unable to exec',
    });
  });

  it('by hanging up on the command: it may have run, so it is not repeated', async () => {
    const commands: string[] = [];
    const port = await sshServer((client) => {
      client.on('authentication', (context) => context.accept());
      client.on('session', (accept) =>
        accept().on('exec', (_accept, _reject, { command }) => {
          commands.push(command);
          client.end();
        }),
      );
    });
    const { error } = await rigAt(port).exec({ command: 'id' });
    expect(error).toMatchObject({
      code: 'ssh_unreachable',
      message: 'The connection to web-1 (127.0.0.1) was lost mid-command; its outcome is unknown.',
    });
    expect(commands).toHaveLength(1);
  });

  it('by hanging up before the command was sent: it is sent once more, on a new connection', async () => {
    const commands: string[] = [];
    let connections = 0;
    const port = await sshServer((client) => {
      connections += 1;
      const first = connections === 1;
      client.on('authentication', (context) => context.accept());
      client.on('session', (accept) => {
        if (first) return client.end();
        return accept().on('exec', (acceptExec, _reject, { command }) => {
          commands.push(command);
          const stream = acceptExec();
          stream.write('ran\n');
          stream.exit(0);
          stream.end();
        });
      });
    });
    expect(await rigAt(port).exec({ command: 'id' })).toMatchObject({ exit_code: 0, stdout: 'ran\n' });
    expect([connections, commands.length]).toEqual([2, 1]);
  });

  it('to every channel: the command was not started', async () => {
    const port = await sshServer((client) => {
      client.on('authentication', (context) => context.accept());
      client.on('session', (_accept, reject) => reject());
    });
    const { error } = await rigAt(port).exec({ command: 'id' });
    expect(error).toMatchObject({
      code: 'ssh_unreachable',
      message: 'web-1 (127.0.0.1) opened no channel; the command was not started.',
    });
  });
});

describe('dry-run', () => {
  it.each([
    [{ dryRun: true }, {}],
    [{ dryRun: true }, { dry_run: false }],
    [{}, { dry_run: true }],
  ])('configured %j, asked for %j: connects nowhere', async (settings, args) => {
    const { port, sockets } = await silentServer();
    const answer = await rigAt(port, settings).exec({ command: 'id', ...args });
    expect(answer).toEqual({
      isError: false,
      device: 'web-1',
      address: null,
      user: 'demo',
      command: 'id',
      exit_code: null,
      signal: null,
      stdout: '',
      stderr: '',
      stdout_truncated: false,
      stderr_truncated: false,
      duration_ms: 0,
      dry_run: true,
      timed_out: false,
    });
    expect(sockets).toHaveLength(0);
  });
});

describe('a refusal by policy is an answer, and connects nowhere', () => {
  it.each([
    [{ command: `r'm' -rf /` }, { blocked: true, matched_rule: 'rm -rf' }],
    [
      { command: 'ls', cwd: '/etc' },
      { blocked: true, reason: 'Path not in allowed directories', path: '/etc' },
    ],
  ])('%j', async (args, refusal) => {
    const { port, sockets } = await silentServer();
    expect(await rigAt(port, { allowedDirs: ['/srv'] }).exec(args)).toEqual({ isError: false, ...refusal });
    expect(sockets).toHaveLength(0);
  });
});

describe('bad input', () => {
  it.each([
    ['no command', {}, 'invalid_input', 'ssh_exec needs "command".'],
    ['an empty command', { command: '' }, 'invalid_input', '"command": it is empty'],
    [
      'NUL',
      { command: 'id\0x' },
      'invalid_input',
      '"command": it holds a NUL character, which no command line can',
    ],
    [
      '1 MB',
      { command: 'x'.repeat(1_000_000) },
      'invalid_input',
      '"command": 1,000,000 bytes are too long; the limit is 122,880',
    ],
    ['bytes, not characters', { command: '€'.repeat(50_000) }, 'invalid_input', '150,000 bytes'],
    [
      'a user that is an option',
      { command: 'id', user: '-oX' },
      'invalid_input',
      '"user": expected a user name',
    ],
    ['no time', { command: 'id', timeout_seconds: 0 }, 'invalid_input', '"timeout_seconds"'],
    ['too much time', { command: 'id', timeout_seconds: 3601 }, 'invalid_input', '"timeout_seconds"'],
    ['a job of nowhere', { job: 'x' }, 'not_found', 'There is no job "x".'],
    [
      'a job and a command',
      { job: 'x', command: 'id' },
      'invalid_input',
      '"job": "x" does not go together with "command".',
    ],
    [
      'a job to read without reading it',
      { job: 'x', dry_run: true, cancel: true },
      'invalid_input',
      '"job": "x" does not go together with "dry_run".',
    ],
    ['all jobs to end', { job: 'list', cancel: true }, 'invalid_input', '"job": "list" does not go'],
    ['nothing to end', { command: 'id', cancel: true }, 'invalid_input', '"cancel" needs "job"'],
    ['too long a wait', { command: 'id', wait_seconds: 3601 }, 'invalid_input', '"wait_seconds"'],
    ['no wait', { command: 'id', wait_seconds: -1 }, 'invalid_input', '"wait_seconds": expected 0 or more'],
  ])('%s', async (_what, args, code, message) => {
    const { isError, error } = await rigAt(1).exec(args);
    expect(isError).toBe(true);
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) as string });
  });
});
