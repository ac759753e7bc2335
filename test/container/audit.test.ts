import { expect, it } from 'vitest';

import { call, container, docker, inside } from '../support/stack.ts';

const SERVICE = '10001';
const LOG = '/data/audit/service-audit.log';

/** As its operator types it: root of the container, which may not touch the service's files by itself. */
const audit = (...args: string[]) =>
  docker('exec', container('server'), 'remote-tool-server', 'audit', ...args);

it('audit tail shows a call to a person, and audit verify finds the log whole', async () => {
  await call('ssh_exec', { device: 'web-1', command: 'echo seen-by-the-audit' });
  expect(await audit('tail', '-n', '5')).toMatch(/ssh_exec .*echo seen-by-the-audit/);
  const raw =
    (await audit('tail', '--json', '--tool', 'ssh_exec', '-n', '1')).trim().split('\n').at(-1) ?? '';
  expect(JSON.parse(raw)).toMatchObject({
    tool: 'ssh_exec',
    seq: expect.any(Number),
    mac: expect.any(String),
  });
  await expect(audit('verify')).resolves.toBeTruthy();
});

it('audit verify names the line that somebody changed', async () => {
  await inside(
    'server',
    `cp ${LOG} /tmp/copy.log && sed -i '3s/"event":"[a-z]*"/"event":"note"/' /tmp/copy.log`,
    SERVICE,
  );
  const failure = await audit('verify', '/tmp/copy.log').then(
    () => undefined,
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
  expect(failure).toContain('/tmp/copy.log:3: changed: record 3 is not what was written');
});
