/** What is wrong with the text of a private key, in one sentence, or undefined. The text itself is never quoted. */
export async function keyFault(text: string): Promise<string | undefined> {
  const { default: ssh2 } = await import('ssh2');
  const parsed = ssh2.utils.parseKey(text);
  if (parsed instanceof Error) {
    return /encrypted|passphrase/i.test(parsed.message)
      ? 'The SSH key has a passphrase, which nobody can type here; make one without (ssh-keygen -t ed25519 -N "").'
      : 'The file at SSH_KEY_PATH is not a private SSH key in OpenSSH or PEM format.';
  }
  const [key] = Array.isArray(parsed) ? parsed : [parsed];
  return key?.isPrivateKey()
    ? undefined
    : 'The file at SSH_KEY_PATH is a public key; the private one is needed.';
}
