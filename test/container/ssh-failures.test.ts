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
import { sshKeyPair } from '../support/ssh-keys.ts';

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
    const keyed = rigFor(locked, {}, sshKeyPair().private);
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
