import { execFileSync, spawnSync } from 'node:child_process';

import { describe, expect, it } from 'vitest';

import { type Handle, announcement, createAnnouncementFilter, isPosix } from './end-command.ts';

const TOKEN = 'rts-0123456789abcdef01234567';

function filtered(...chunks: string[]) {
  const handle: Handle = { token: TOKEN, pid: undefined, shell: undefined };
  let passed = '';
  const filter = createAnnouncementFilter(handle, (chunk) => (passed += chunk.toString()));
  for (const chunk of chunks) filter.add(Buffer.from(chunk));
  const before = passed;
  filter.flush();
  return { before, passed, pid: handle.pid, shell: handle.shell };
}

describe('the announcement', () => {
  it.each([
    ['alone', [`${TOKEN} 4711 bash\n`], '', '4711', 'bash'],
    ['from a shell that tells of itself', [`${TOKEN} 4711\n`], '', '4711', undefined],
    ['byte by byte', `${TOKEN} 4711 sh\nerror\n`.split(''), 'error\n', '4711', 'sh'],
    ['between other words', ['motd\nmore', `${TOKEN} 4711\nerror`], 'motd\nmoreerror', '4711', undefined],
    // A shell that traces its commands writes the words themselves first: its number is not a process id.
    [
      'in a trace',
      [`+ sh -c 'echo ${TOKEN} $PPID $name >&2'\n`, `${TOKEN} 4711 bash\n`],
      `+ sh -c 'echo ${TOKEN} $PPID $name >&2'\n`,
      '4711',
      'bash',
    ],
    ['that never comes', ['sh: 1: Syntax error\n'], 'sh: 1: Syntax error\n', undefined, undefined],
    ['of another command', [`rts-ffffffffffffffffffffffff 1\n`], 'rts-ffffffffffffffffffffffff 1\n'],
  ])('%s is taken out of stderr', (_what, chunks, passed, pid?: string, shell?: string) => {
    expect(filtered(...chunks)).toMatchObject({ passed, pid, shell });
  });

  it('is waited for no longer than 64 KiB', () => {
    const { before } = filtered('x'.repeat(64 * 1024), 'y');
    expect(before).toHaveLength(64 * 1024 + 1);
  });

  // Shells that read the words otherwise must get those that every shell reads: csh would write to a file "2".
  it.each([
    ['bash', true],
    ['sh', true],
    ['zsh', true],
    ['fish', false],
    ['tcsh', false],
    ['csh', false],
    ['rbash', false],
    ['busybox', false],
    [undefined, false],
  ])('of %s: a POSIX shell is %s', (shell, expected) => {
    expect(isPosix({ token: TOKEN, pid: '1', shell })).toBe(expected);
  });

  it.each(['sh', 'bash'])('tells the process id of %s, in the words for all and in its own', (shell) => {
    for (const posix of [false, true]) {
      const handle: Handle = { token: TOKEN, pid: undefined, shell: undefined };
      const { stdout, stderr } = spawnSync(shell, ['-c', `${announcement(handle, posix)}echo $$`]);
      createAnnouncementFilter(handle, () => {}).add(stderr);
      expect(handle.pid).toBe(stdout.toString().trim());
      if (!posix) expect(isPosix(handle)).toBe(true);
    }
  });

  it('leaves the command’s stdin alone', () => {
    for (const posix of [false, true]) {
      const words = announcement({ token: TOKEN, pid: undefined, shell: undefined }, posix);
      const out = execFileSync('sh', ['-c', `${words}cat`], {
        input: 'whole',
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      expect(out.toString()).toBe('whole');
    }
  });
});
