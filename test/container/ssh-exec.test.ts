import { readFileSync } from 'node:fs';

import type { StartedTestContainer } from 'testcontainers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import {
  KEY,
  NONE,
  TALKATIVE,
  kill,
  logOf,
  pause,
  processes,
  rigFor,
  startDevice,
  unpause,
} from './ssh/device.ts';
import { type Rig, until } from './ssh/rig.ts';

let device: StartedTestContainer;
let rig: Rig;

beforeAll(async () => {
  device = await startDevice(...NONE);
  rig = rigFor(device);
});
afterAll(async () => {
  await device.stop();
  await rig.close();
});

describe('a command', () => {
  it('answers with all fields of the contract', async () => {
    const answer = await rig.exec({ command: 'echo out; echo err >&2; exit 3' });
    expect(answer).toEqual({
      isError: false,
      device: 'web-1',
      address: device.getHost(),
      user: 'demo',
      command: 'echo out; echo err >&2; exit 3',
      exit_code: 3,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
      stdout_truncated: false,
      stderr_truncated: false,
      duration_ms: expect.any(Number) as number,
      dry_run: false,
      timed_out: false,
    });
  });

  it.each([
    ['demo', '/bin/sh'],
    ['basher', '/bin/bash'],
    ['root', '/bin/bash'],
  ])('runs in the login shell of %s, as written', async (user, shell) => {
    const command = `printf '%s\\n' "$SHELL" 'a\\b' "$0" # it's
cat <<END
$(whoami)
END`;
    const { stdout, stderr } = await rig.exec({ user, command });
    expect({ stdout, stderr }).toEqual({
      stdout: `${shell}\na\\b\n${shell === '/bin/sh' ? 'sh' : 'bash'}\n${user}\n`,
      stderr: '',
    });
  });

  it('gets stdin and then its end', async () => {
    const { stdout } = await rig.exec({ command: 'wc -c; cat', stdin: 'héllo\n'.repeat(20_000) });
    expect(stdout).toBe('140000\n');
    expect((await rig.exec({ command: 'cat; echo end' })).stdout).toBe('end\n');
  });

  it.each([
    ['/srv/app', '/srv/app'],
    ['~', '/home/demo'],
    [`/tmp/it's a "dir" \\ $HOME`, `/tmp/it's a "dir" \\ $HOME`],
    ['-dash', '/home/demo/-dash'],
  ])('runs in %s', async (cwd, shown) => {
    await rig.exec({ command: 'mkdir -p -- "$(cat)"', stdin: cwd.replace(/^~$/, '/tmp') });
    expect(await rig.exec({ command: 'pwd', cwd })).toMatchObject({ exit_code: 0, stdout: `${shown}\n` });
  });

  it('does not run where its directory is missing', async () => {
    const answer = await rig.exec({ command: 'true; echo ran', cwd: '/nowhere' });
    expect(answer).toMatchObject({ exit_code: 1, stdout: '', isError: false });
    expect(answer.stderr).toContain('/nowhere');
  });

  it('that a signal killed is a normal result', async () => {
    expect(await rig.exec({ command: 'kill -KILL $$' })).toMatchObject({
      isError: false,
      exit_code: null,
      signal: 'KILL',
    });
  });

  it('may write bytes that are no text', async () => {
    const { stdout } = await rig.exec({ command: `printf 'a\\377\\000b\\342\\202'` });
    expect(stdout).toBe('a\uFFFD\0b\uFFFD');
  });

  it('may write 200 MB: head and tail come back, memory stays', async () => {
    const before = process.memoryUsage().rss;
    const answer = await rig.exec({
      command: 'echo start; yes 0123456789 | head -c 200000000; echo; echo end >&2',
    });
    expect(answer.stdout.slice(0, 10)).toBe('start\n0123');
    expect(answer.stdout.slice(-6)).toBe('89\n01\n');
    expect(answer.stdout).toContain('[… 199967239 bytes cut …]');
    expect(answer).toMatchObject({ exit_code: 0, stdout_truncated: true, stderr: 'end\n' });
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it('keeps as much output as was asked for', async () => {
    const answer = await rig.exec({ command: 'printf 0123456789', max_output_bytes: 4 });
    expect(answer.stdout).toBe('01\n[… 6 bytes cut …]\n89');
  });
});

describe('connections', () => {
  it('are kept: the second call does not connect', async () => {
    const own = rigFor(device);
    await own.exec({ command: 'true' });
    await own.exec({ command: 'true' });
    expect(own.connections()).toBe(1);
    await own.close();
  });

  it.each([
    [8, 1],
    [9, 2],
  ])('carry %i calls at a time over %i', async (calls, connections) => {
    const own = rigFor(device);
    const answers = await Promise.all(
      Array.from({ length: calls }, () => own.exec({ command: 'sleep 0.2' })),
    );
    expect(answers.filter(({ exit_code: code }) => code !== 0)).toEqual([]);
    expect(own.connections()).toBe(connections);
    await own.close();
  });

  it('carry 50 calls at a time, four connections with eight channels each', async () => {
    const own = rigFor(device);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => own.exec({ command: `echo ${index}; sleep 0.2` })),
    );
    expect(answers.map(({ stdout }) => stdout)).toEqual(
      Array.from({ length: 50 }, (_, index) => `${index}\n`),
    );
    expect(own.connections()).toBe(4);
    await own.close();
  });

  it('make do with a device that admits one channel each', async () => {
    const narrow = await startDevice(...NONE, 'MaxSessions=1');
    const own = rigFor(narrow);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => own.exec({ command: `echo ${index}` })),
    );
    expect(answers.map(({ stdout }) => stdout)).toEqual(
      Array.from({ length: 12 }, (_, index) => `${index}\n`),
    );
    const late = await own.exec({ command: 'sleep 4321', timeout_seconds: 1 });
    expect(late).toMatchObject({ timed_out: true });
    expect(late.hint).toBeUndefined();
    expect(await processes(narrow, 'sleep 4321')).toBe('');
    await own.close();
    await narrow.stop();
  });

  it('that died between calls are replaced', async () => {
    const own = rigFor(device);
    await own.exec({ command: 'true' });
    await device.exec(['pkill', '-KILL', '-f', 'sshd-session: demo']);
    expect(await own.exec({ command: 'echo again' })).toMatchObject({ stdout: 'again\n', exit_code: 0 });
    await own.close();
  });
});

describe('nothing survives', () => {
  // Peers closed the channel and left the process: it went on, and wrote, behind the operator's back.
  const commands = [
    ['one process', 'sleep 4321'],
    ['children in the background', 'sleep 4321 & sleep 4321 & wait'],
    ['one that ignores every signal it can', `trap '' TERM HUP INT PIPE; sleep 4321; sleep 4321`],
    ['one in a process group of its own', 'timeout 4321 sleep 4321'],
    ['one in a session of its own, with its parent', `sh -c 'setsid -w sleep 4321'`],
    ['one that holds the output after its shell is gone', 'sleep 4321 & exit 0'],
    ['one that waits for input in a pipe', 'sleep 4321 | cat'],
  ];
  const users = ['demo', 'basher', 'root'];
  const cases = users.flatMap((user) =>
    commands.map(([what = '', command = '']) => [user, what, command] as const),
  );

  it.each(cases)('a timeout of %s: %s', async (user, _what, command) => {
    const answer = await rig.exec({ user, command: `echo begun; ${command}`, timeout_seconds: 1 });
    expect(answer).toMatchObject({ isError: false, timed_out: true, exit_code: null, stdout: 'begun\n' });
    expect(answer.hint).toBeUndefined();
    expect(await processes(device, 'sleep 4321')).toBe('');
  });

  it.each(users)('a cancelled call of %s', async (user) => {
    const controller = new AbortController();
    const call = rig.exec({ user, command: 'sleep 4321 & sleep 4321' }, controller.signal);
    await until(
      () => processes(device, '^sleep 4321'),
      (found) => found.split('\n').length === 2,
    );
    controller.abort();
    expect((await call).error).toEqual({
      code: 'cancelled',
      message: 'The client cancelled the call.',
      hint: 'The command was ended on the device.',
    });
    expect(await processes(device, 'sleep 4321')).toBe('');
  });

  it('eight timeouts on one connection', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => rig.exec({ command: 'sleep 4321', timeout_seconds: 1 })),
    );
    expect(answers.map(({ timed_out: late, hint }) => [late, hint])).toEqual(
      Array.from({ length: 8 }, () => [true, undefined]),
    );
    expect(await processes(device, 'sleep 4321')).toBe('');
  });

  it('a login shell that hangs before the command', async () => {
    const once = '[ -e ~/hung ] || { touch ~/hung; sleep 4321; }';
    await device.exec(['sh', '-c', `echo '${once}' >/home/basher/.bashrc`]);
    const answer = await rig.exec({ user: 'basher', command: 'echo ran', timeout_seconds: 1 });
    expect(answer).toMatchObject({ timed_out: true, stdout: '' });
    expect(await processes(device, 'sleep 4321')).toBe('');
  });

  it('unless every login hangs, and then the answer says so', async () => {
    await device.exec(['sh', '-c', 'echo "sleep 4325" >/home/basher/.bashrc']);
    const answer = await rig.exec({ user: 'basher', command: 'echo ran', timeout_seconds: 1 });
    expect(answer).toMatchObject({
      timed_out: true,
      hint: 'The command could not be ended, or not wholly: look for its processes on the device.',
    });
    await device.exec(['sh', '-c', 'rm /home/basher/.bashrc; pkill -f "sleep 4325"']);
  });

  it('and nothing else is touched', async () => {
    const other = rig.exec({ command: 'read line; echo "$line" ; sleep 2; echo done', stdin: 'hi\n' });
    await rig.exec({ command: 'sleep 4321', timeout_seconds: 1 });
    expect(await other).toMatchObject({ exit_code: 0, stdout: 'hi\ndone\n' });
  });
});

describe('a login', () => {
  let locked: StartedTestContainer;
  beforeAll(async () => {
    locked = await startDevice(TALKATIVE, 'PasswordAuthentication=no');
  });
  afterAll(() => locked.stop());

  it('needs no key where the device accepts "none"', async () => {
    const keyed = rigFor(device, {}, KEY.private);
    expect(await keyed.exec({ command: 'whoami' })).toMatchObject({ stdout: 'demo\n' });
    const log = await logOf(device);
    expect(log).toContain('Accepted none for demo');
    expect(log).not.toContain('Accepted publickey');
    await keyed.close();
  });

  it('uses the key where it does not, after "none"', async () => {
    const keyed = rigFor(locked, {}, KEY.private);
    expect(await keyed.exec({ command: 'whoami' })).toMatchObject({ stdout: 'demo\n' });
    const methods = (await logOf(locked)).match(/userauth-request .* method \w+/g);
    expect(methods?.slice(0, 2)).toEqual([
      'userauth-request for user demo service ssh-connection method none',
      'userauth-request for user demo service ssh-connection method publickey',
    ]);
    await keyed.close();
  });

  it('with the wrong key names what was tried', async () => {
    const { default: ssh2 } = await import('ssh2');
    const keyed = rigFor(locked, {}, ssh2.utils.generateKeyPairSync('ed25519').private);
    const { isError, error } = await keyed.exec({ command: 'whoami' });
    const where = `web-1 (${locked.getHost()}, port ${locked.getMappedPort(22)})`;
    expect(isError).toBe(true);
    expect(error).toEqual({
      code: 'ssh_auth_failed',
      message: `Authentication failed for demo at ${where}: tried "none", then "publickey".`,
      hint: expect.stringContaining('authorized_keys') as string,
    });
    await keyed.close();
  });

  it('without a key says so', async () => {
    const keyless = rigFor(locked);
    const { error } = await keyless.exec({ command: 'whoami' });
    expect(error).toMatchObject({
      code: 'ssh_auth_failed',
      message: expect.stringMatching(/tried "none"\. The server has no SSH key\.$/) as string,
    });
    await keyless.close();
  });
});

describe('a device that dies under a command', () => {
  let victim: StartedTestContainer;
  let own: Rig;
  beforeAll(async () => {
    victim = await startDevice(...NONE);
  });
  afterAll(() => victim.stop());
  afterEach(() => own.close());

  const lost = {
    code: 'ssh_unreachable',
    message: expect.stringMatching(
      /^The connection to web-1 \(.*\) was lost mid-command; its outcome is unknown\.$/,
    ) as string,
    hint: 'The command may have ended, or still be running there. Look at the device before repeating it.',
    stdout: 'begun\n',
    stderr: '',
  };

  it('is an error with what had arrived, when its connection breaks', async () => {
    own = rigFor(victim);
    const call = own.exec({ command: 'echo begun; sleep 4322' });
    await until(
      () => processes(victim, '^sleep 4322'),
      (found) => found !== '',
    );
    await victim.exec(['pkill', '-KILL', '-f', 'sshd-session']);
    expect(await call).toMatchObject({ isError: true, error: lost });
  });

  it('is an error when it falls silent, without a word of the network', async () => {
    own = rigFor(victim);
    const call = own.exec({ command: 'echo begun; sleep 4323' });
    await until(
      () => processes(victim, '^sleep 4323'),
      (found) => found !== '',
    );
    await pause(victim);
    try {
      expect(await call).toMatchObject({ isError: true, error: lost });
    } finally {
      await unpause(victim);
    }
  });

  it('is an error when it is killed', async () => {
    own = rigFor(victim);
    const call = own.exec({ command: 'echo begun; sleep 4324' });
    await until(
      () => processes(victim, '^sleep 4324'),
      (found) => found !== '',
    );
    await kill(victim);
    expect(await call).toMatchObject({ isError: true, error: lost });
  });
});

describe('a host key', () => {
  it('that changed is refused before anything is sent', async () => {
    const impostor = await startDevice(TALKATIVE, ...NONE);
    const own = rigFor(impostor);
    await own.exec({ command: 'true' });
    const known = readFileSync(own.knownHostsPath, 'utf8');
    expect(known).toBe(
      `[web-1.tail.ts.net]:${impostor.getMappedPort(22)},[${impostor.getHost()}]:${impostor.getMappedPort(22)} ${await hostKey(impostor)}\n`,
    );

    await impostor.exec([
      'sh',
      '-c',
      'cd /var/lib/host-keys && rm * && ssh-keygen -q -t ed25519 -N "" -f ssh_host_ed25519_key',
    ]);
    // sshd reads its keys anew, and ends the sessions it has.
    await impostor.exec(['sh', '-c', 'kill -HUP 1; pkill -KILL -f sshd-session']);
    await until(
      async () => (await logOf(impostor)).split('Server listening on 0.0.0.0').length,
      (count) => count === 3,
    );
    const before = (await logOf(impostor)).split('userauth-request').length;
    const { error } = await own.exec({ command: 'echo secret' });
    expect(error).toMatchObject({
      code: 'host_key_changed',
      message: expect.stringContaining(`${own.knownHostsPath}, line 1 has SHA256:`) as string,
    });
    expect((await logOf(impostor)).split('userauth-request').length).toBe(before);
    expect(readFileSync(own.knownHostsPath, 'utf8')).toBe(known);
    await own.close();
    await impostor.stop();
  });
});

async function hostKey(container: StartedTestContainer): Promise<string> {
  const { output } = await container.exec([
    'cut',
    '-d ',
    '-f1,2',
    '/var/lib/host-keys/ssh_host_ed25519_key.pub',
  ]);
  return output.trim();
}
