import ssh2 from 'ssh2';

export interface KeyOptions {
  /** Of an ecdsa or rsa key. */
  bits?: number;
  comment?: string;
  passphrase?: string;
  cipher?: string;
  rounds?: number;
}

/**
 * A key pair in OpenSSH's formats, both halves readable.
 *
 * The library's generator drops the leading zero bytes of an Ed25519 public key, which is of fixed length, so that one
 * pair of some 250 can't be read again (mscdex/ssh2 issue 1390). Such a pair is drawn anew; taken as it comes, it fails
 * whatever test happens to draw it.
 */
export function sshKeyPair(type: 'ed25519' | 'ecdsa' | 'rsa' = 'ed25519', options: KeyOptions = {}) {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync(type as 'ed25519', options as object);
    const halves = [ssh2.utils.parseKey(pair.public), ssh2.utils.parseKey(pair.private, options.passphrase)];
    if (!halves.some((half) => half instanceof Error)) return pair;
  }
}
