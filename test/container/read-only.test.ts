import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

import { afterEach, expect, it } from 'vitest';

const run = promisify(execFile);
const IMAGE = 'remote-tool-server/server:0.1.0';
const ENV = {
  MCP_SECRET: 'a'.repeat(64),
  MESH_API_KEY: 'mesh-key-1',
  CODE_HOST_TOKEN: 'host-token-1',
  AUDIT_LOG_PATH: '/data/audit/service-audit.log',
};
const name = `rts-read-only-${randomBytes(4).toString('hex')}`;

afterEach(async () => {
  await run('docker', ['rm', '--force', name]);
});

it('a volume that cannot be written stops the start, with the file and the reason', async () => {
  const env = Object.entries(ENV).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
  // Without a volume the directory is part of the image, which is read-only here.
  await run('docker', ['run', '--detach', '--name', name, '--read-only', '--tmpfs', '/tmp', ...env, IMAGE]);
  expect((await run('docker', ['wait', name])).stdout).toBe('1\n');
  const { stdout, stderr } = await run('docker', ['logs', name]);
  expect(stdout + stderr).toMatch(
    /^The audit log \/data\/audit\/service-audit\.log cannot be written \(EROFS\)/m,
  );
  expect(stdout + stderr).not.toMatch(/^ +at /m);
});
