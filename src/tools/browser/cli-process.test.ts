import { expect, it } from 'vitest';

import { launch } from './cli-process.ts';

const never = new AbortController().signal;
const shell = (script: string) =>
  launch('/bin/sh', ['-c', script], { cwd: '/', env: { PATH: '/usr/bin:/bin' } });

it('waits for its input, and answers', async () => {
  const cat = shell('cat');
  expect(cat.alive()).toBe(true);
  expect(await cat.finish('--version', never)).toBe('--version');
  expect(cat.alive()).toBe(false);
});

it('one that ends without an answer fails with what it said', async () => {
  await expect(shell('echo broken >&2').finish('x', never)).rejects.toMatchObject({
    code: 'upstream_error',
    message: 'agent-browser did not answer as expected: broken\n',
  });
});

it('an answer without end is too_large', async () => {
  await expect(shell('exec tr -c x x </dev/zero').finish('', never)).rejects.toMatchObject({
    code: 'too_large',
  });
});

it('an answer is there when its line is, and its process does not outlive it for long', async () => {
  const slow = shell('echo "[]"; exec sleep 60');
  expect(await slow.finish('', never)).toBe('[]\n');
  expect(slow.alive()).toBe(true);
  await expect.poll(() => slow.alive(), { timeout: 30_000 }).toBe(false);
});

it('a call that is cancelled ends it', async () => {
  const cancelled = new AbortController();
  const waiting = shell('exec sleep 60').finish('', cancelled.signal);
  cancelled.abort();
  await expect(waiting).rejects.toMatchObject({
    code: 'upstream_error',
    message: expect.stringContaining('SIGKILL'),
  });
});

it('one that was never told anything is ended, and a program that is not there is cli_not_found', async () => {
  const idle = shell('exec sleep 60');
  idle.discard();
  await expect(idle.finish('', never)).rejects.toMatchObject({ message: expect.stringContaining('SIGKILL') });
  const missing = launch('/nonexistent/agent-browser', [], { cwd: '/', env: {} });
  expect(missing.alive()).toBe(false);
  await expect(missing.finish('', never)).rejects.toMatchObject({ code: 'cli_not_found' });
});
