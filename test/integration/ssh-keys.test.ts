import ssh2 from 'ssh2';
import { afterEach, expect, it, vi } from 'vitest';

import { sshKeyPair } from '../support/ssh-keys.ts';

afterEach(() => vi.restoreAllMocks());

const readable = (pair: { public: string; private: string }) =>
  ![pair.public, pair.private].some((half) => ssh2.utils.parseKey(half) instanceof Error);

it("draws another pair where the library's own can't be read again", () => {
  const drawn = Array.from({ length: 5_000 }, () => ssh2.utils.generateKeyPairSync('ed25519'));
  const broken = drawn.find((pair) => !readable(pair));
  if (!broken) throw new Error('the library draws readable pairs only: sshKeyPair() is no longer needed');
  vi.spyOn(ssh2.utils, 'generateKeyPairSync').mockReturnValueOnce(broken);
  expect(readable(sshKeyPair())).toBe(true);
});
