import { type CertificateExtension, generate } from 'selfsigned';

export interface Certificate {
  key: string;
  cert: string;
}

export interface Authority {
  /** PEM of its own certificate. */
  ca: string;
  issue(...names: string[]): Promise<Certificate>;
}

const HOUR_MS = 3_600_000;

/** A private authority that issues certificates for lists of DNS names. */
export async function createAuthority(): Promise<Authority> {
  const validity = () => ({
    keyType: 'ec' as const,
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - HOUR_MS),
    notAfterDate: new Date(Date.now() + 24 * HOUR_MS),
  });
  const root = await generate([{ name: 'commonName', value: 'Test CA' }], {
    ...validity(),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return {
    ca: root.cert,
    async issue(...names) {
      const extensions: CertificateExtension[] = [
        { name: 'subjectAltName', altNames: names.map((value) => ({ type: 2, value })) },
      ];
      const subject = [{ name: 'commonName', value: names[0] ?? '' }];
      const issued = await generate(subject, {
        ...validity(),
        extensions,
        ca: { key: root.private, cert: root.cert },
      });
      return { key: issued.private, cert: issued.cert };
    },
  };
}
