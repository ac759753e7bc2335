import { describe, expect, it } from 'vitest';

import { diskFinding } from './audit.ts';
import { certificateFinding } from './certificate.ts';
import { checkSecret } from './configuration.ts';
import { lineOf, settle } from './report.ts';
import { checkKey } from './ssh.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const DAY = 86_400_000;
const HOUR = 3_600_000;

describe('the secret', () => {
  it.each([
    [
      '64 random hexadecimal digits',
      '3fa91c07d2be6458e1700c9a5bd3f826417ec05a9db86f32e80b5c14da697f20',
      'ok',
      '',
    ],
    [
      'too few characters',
      'Zk3v9QpL',
      'warn',
      'has 8 characters, fewer than 32; it holds at most 24 bits of chance',
    ],
    [
      'length without variety',
      'ababababababababababababababababab',
      'warn',
      'holds at most 34 bits of chance',
    ],
    ['a word', 'changeme-f81c07d2be6458e1700c9a5bd3f8', 'warn', 'holds a word or a row of keys'],
    [
      'what a URL cannot hold',
      'f81c07d2be6458e1700c9a5bd3f826417ec05a+/',
      'warn',
      'percent-encoded in a URL',
    ],
  ])('with %s', (_what, secret, status, detail) => {
    const finding = checkSecret(secret);
    expect(finding).toMatchObject({ status, detail: expect.stringContaining(detail) });
    expect(JSON.stringify(finding)).not.toContain(secret);
  });
});

describe('the TLS certificate', () => {
  const shown = (from: number, to: number, fault?: string) => ({ at: 'caddy:443', from, to, fault });

  it.each([
    [14 * DAY + 1, 'ok', 'for mcp.example.org at caddy:443: 14 days left'],
    [14 * DAY - 1, 'warn', 'for mcp.example.org at caddy:443: 13 days left'],
    [5 * HOUR, 'warn', 'for mcp.example.org at caddy:443: 5 h left'],
    [-1, 'fail', 'for mcp.example.org at caddy:443: expired 2026-11-20T11:59:59.999Z'],
  ])('of 90 days with %i ms left', (left, status, detail) => {
    const finding = certificateFinding(
      shown(NOW + left - 90 * DAY, NOW + left, undefined),
      'mcp.example.org',
      NOW,
    );
    expect(finding).toMatchObject({ status, detail });
  });

  it('that never lives for 14 days is judged by its own life', () => {
    const at = (left: number) =>
      certificateFinding(shown(NOW + left - 12 * HOUR, NOW + left), 'localhost', NOW);
    expect(at(4 * HOUR)).toMatchObject({ status: 'ok', detail: 'for localhost at caddy:443: 4 h left' });
    expect(at(2 * HOUR)).toMatchObject({ status: 'warn' });
  });

  it('that clients do not trust fails for a public name, and not for localhost, where it is Caddy’s own', () => {
    const untrusted = shown(NOW - DAY, NOW + 89 * DAY, 'SELF_SIGNED_CERT_IN_CHAIN');
    expect(certificateFinding(untrusted, 'mcp.example.org', NOW)).toMatchObject({
      status: 'fail',
      detail: 'for mcp.example.org at caddy:443: clients will not trust it (SELF_SIGNED_CERT_IN_CHAIN)',
    });
    expect(certificateFinding(untrusted, 'localhost', NOW).status).toBe('ok');
  });
});

describe('the disk', () => {
  it.each([
    [1024 * 1024 ** 2, 'ok', '1,024 MiB free at /data, where the audit log is'],
    [1024 * 1024 ** 2 - 1, 'warn', '1,023 MiB free at /data, where the audit log is'],
    [64 * 1024 ** 2 - 1, 'fail', '63 MiB free at /data, where the audit log is'],
  ])('with %i bytes free', (free, status, detail) => {
    expect(diskFinding(free, '/data')).toMatchObject({ status, detail });
  });
});

describe('the SSH key', () => {
  it('that the doctor’s own user may not read says who may', async () => {
    const message =
      'SSH key /root/.ssh/service-key cannot be read (EACCES). Make it readable by its owner alone.';
    expect(await checkKey({ state: 'fault', message })).toMatchObject({
      status: 'fail',
      mend: expect.stringContaining('as root, without --user'),
    });
  });
});

describe('a check', () => {
  it('that throws is a failure with the words of what it threw', async () => {
    const broken = { name: 'x', run: () => Promise.reject(new TypeError('y is undefined')) };
    expect(await settle(broken)).toEqual([{ name: 'x', status: 'fail', detail: 'y is undefined' }]);
    const sync = {
      name: 'x',
      run: () => {
        throw new Error('at once');
      },
    };
    expect(await settle(sync)).toEqual([{ name: 'x', status: 'fail', detail: 'at once' }]);
  });

  it('that never ends is a failure after 5 s', async () => {
    expect(await settle({ name: 'x', run: () => new Promise(() => {}) })).toEqual([
      {
        name: 'x',
        status: 'fail',
        detail: 'no answer within 5 s',
        mend: 'Run the doctor again; if it stays so, look at what it asks.',
      },
    ]);
  }, 15_000);
});

describe('a line', () => {
  // What a device says before the login was once printed as it came: it could clear the screen and fake lines.
  it('stays one line, without control characters, whatever others have said', () => {
    const detail = 'The device says: hi\u001B[2J\r\nok    mesh API: all is well\u202E';
    expect(lineOf({ name: 'SSH web-1', status: 'fail', detail, mend: 'look' })).toBe(
      'fail  SSH web-1: The device says: hi [2J ok mesh API: all is well → look',
    );
  });
});
