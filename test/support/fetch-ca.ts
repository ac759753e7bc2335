import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificate {
  key: string;
  cert: string;
}

/** A private authority and a certificate of its making for each list of names, by the host's openssl. */
export function createAuthority(): { ca: string; issue(...names: string[]): Certificate; close(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'fetch-ca-'));
  const at = (name: string) => join(directory, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  const ecKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...ecKey,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
    '-days',
    '2',
    '-subj',
    '/CN=Test CA',
  );
  let serial = 0;
  return {
    ca: readFileSync(at('ca.pem'), 'utf8'),
    issue(...names) {
      serial += 1;
      const [key, request, cert, extensions] = ['key', 'csr', 'pem', 'ext'].map((end) =>
        at(`${serial}.${end}`),
      ) as [string, string, string, string];
      writeFileSync(extensions, `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}\n`);
      openssl('req', ...ecKey, '-keyout', key, '-out', request, '-subj', `/CN=${names[0]}`);
      const authority = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-set_serial', String(serial)];
      openssl(
        'x509',
        '-req',
        '-in',
        request,
        ...authority,
        '-out',
        cert,
        '-days',
        '2',
        '-extfile',
        extensions,
      );
      return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
    },
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
}
