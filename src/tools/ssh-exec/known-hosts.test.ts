import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createKnownHosts } from './known-hosts.ts';

const KEY_1 = 'AAAAC3NzaC1lZDI1NTE5AAAAIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB';
const KEY_2 = 'AAAAC3NzaC1lZDI1NTE5AAAAIAICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC';
const WEB = { device: 'web-1', names: ['web-1.tail.ts.net', '100.64.0.1'], port: 22 };

const key = (text: string) => Buffer.from(text, 'base64');

let dir: string;
let file: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'known-hosts-'));
  file = join(dir, 'state', 'known_hosts');
});
afterEach(() => rmSync(dir, { recursive: true }));

function withFile(text: string): ReturnType<typeof createKnownHosts> {
  file = join(dir, 'known_hosts');
  writeFileSync(file, text);
  return createKnownHosts(file);
}

describe('a host key', () => {
  it('is filed at first use, under name and address, for the server alone', async () => {
    await createKnownHosts(file).check(WEB, key(KEY_1));
    expect(readFileSync(file, 'utf8')).toBe(`web-1.tail.ts.net,100.64.0.1 ssh-ed25519 ${KEY_1}\n`);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
  });

  it('is recognised after a restart and not filed again', async () => {
    await createKnownHosts(file).check(WEB, key(KEY_1));
    const again = createKnownHosts(file);
    await again.check(WEB, key(KEY_1));
    expect(await again.keyTypes(WEB)).toEqual(['ssh-ed25519']);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(2);
  });

  it('that changed is refused with file, line, both fingerprints and the mend', async () => {
    const hosts = withFile(`# kept by hand\nweb-1.tail.ts.net ssh-ed25519 ${KEY_1}\n`);
    await expect(hosts.check(WEB, key(KEY_2))).rejects.toMatchObject({
      code: 'host_key_changed',
      message: `The host key of web-1 changed: ${file}, line 2 has SHA256:RXm/ruZ0eTzRXKwi1AQEDynB0VgHQ2ac9KPSFdf/YnA (ssh-ed25519), the device shows SHA256:baqJQcVDEweKmw1OiZxGooCG2MGxYtwsQQzzOstxmiA (ssh-ed25519). Nothing was sent to it.`,
      details: {
        hint: `If the device was installed anew, the operator removes line 2 from ${file} and the call can be repeated; otherwise somebody may be posing as the device.`,
      },
    });
    expect(readFileSync(file, 'utf8')).toBe(`# kept by hand\nweb-1.tail.ts.net ssh-ed25519 ${KEY_1}\n`);
  });

  it.each([
    ['its name', `web-1.tail.ts.net ssh-ed25519 ${KEY_1}\n`],
    ['its address', `100.64.0.1 ssh-ed25519 ${KEY_1}\n`],
    [
      'its address, while its name is right',
      `web-1.tail.ts.net ssh-ed25519 ${KEY_2}\n100.64.0.1 ssh-ed25519 ${KEY_1}\n`,
    ],
    ['its name in other letters', `WEB-1.Tail.ts.net ssh-ed25519 ${KEY_1}\n`],
    ['its name, with a key of another kind', `web-1.tail.ts.net ssh-rsa ${KEY_1}\n`],
    ['its hashed name', `|1|c2FsdHNhbHQ=|3Y1ORh5pVgcah7zxjFQ4yvVlaAM= ssh-ed25519 ${KEY_1}\n`],
  ])('that differs from the one for %s is refused', async (_what, text) => {
    await expect(withFile(text).check(WEB, key(KEY_2))).rejects.toMatchObject({ code: 'host_key_changed' });
  });

  it('can be looked at without being filed', async () => {
    const hosts = withFile(`web-1.tail.ts.net,100.64.0.1 ssh-ed25519 ${KEY_1}\n`);
    expect(await hosts.look(WEB, key(KEY_1))).toBe('known');
    await expect(hosts.look(WEB, key(KEY_2))).rejects.toMatchObject({ code: 'host_key_changed' });
    expect(await hosts.look({ device: 'db-1', names: ['db-1'], port: 22 }, key(KEY_2))).toBe('new');
    expect(readFileSync(file, 'utf8')).toBe(`web-1.tail.ts.net,100.64.0.1 ssh-ed25519 ${KEY_1}\n`);
  });

  it('that is marked as revoked is refused', async () => {
    const hosts = withFile(`@revoked web-1.tail.ts.net ssh-ed25519 ${KEY_1}\n`);
    await expect(hosts.check(WEB, key(KEY_1))).rejects.toThrow(`is marked as revoked in ${file}, line 1.`);
  });

  it('is one of several on file', async () => {
    const text = `web-1.tail.ts.net,100.64.0.1 ssh-ed25519 ${KEY_1}\nweb-1.tail.ts.net,100.64.0.1 ssh-ed25519 ${KEY_2}\n`;
    await withFile(text).check(WEB, key(KEY_2));
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('gets a line for an address that is new, behind a last line without its break', async () => {
    const hosts = withFile(`web-1.tail.ts.net ssh-ed25519 ${KEY_1}`);
    await hosts.check(WEB, key(KEY_1));
    expect(readFileSync(file, 'utf8')).toBe(
      `web-1.tail.ts.net ssh-ed25519 ${KEY_1}\n100.64.0.1 ssh-ed25519 ${KEY_1}\n`,
    );
  });

  it('on another port is another host', async () => {
    const hosts = withFile(`web-1.tail.ts.net ssh-ed25519 ${KEY_1}\n`);
    await hosts.check({ ...WEB, port: 2222 }, key(KEY_2));
    expect(readFileSync(file, 'utf8')).toContain(
      `[web-1.tail.ts.net]:2222,[100.64.0.1]:2222 ssh-ed25519 ${KEY_2}\n`,
    );
  });

  it('is filed once by ten first connections at a time; a second key among them is refused', async () => {
    const hosts = createKnownHosts(file);
    const first = Array.from({ length: 10 }, () => hosts.check(WEB, key(KEY_1)));
    await expect(hosts.check(WEB, key(KEY_2))).rejects.toMatchObject({ code: 'host_key_changed' });
    await Promise.all(first);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(2);
  });
});

it('a file that is a directory is named, and no key is trusted', async () => {
  const hosts = createKnownHosts(dir);
  chmodSync(dir, 0o700);
  await expect(hosts.check(WEB, key(KEY_1))).rejects.toThrow(
    `The known-hosts file ${dir} cannot be used: EISDIR`,
  );
});
