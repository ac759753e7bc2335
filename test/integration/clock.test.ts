import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { deriveKeys } from '../../src/audit/chain.ts';
import { openAuditLog } from '../../src/audit/log.ts';
import { verifyAudit } from '../../src/audit/verify.ts';
import { startTestServer } from '../support/server.ts';

const HOUR = 3_600_000;
const SECRET = 'c0ffee00c0ffee00c0ffee00c0ffee00';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'clock-'));
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true, force: true });
});

it('a clock that jumps back and far ahead leaves the audit log whole, a restart included', async () => {
  const path = join(directory, 'audit.log');
  const start = Date.now();
  let id = 0;
  for (const jump of [0, -24 * HOUR, 365 * 24 * HOUR, HOUR]) {
    vi.setSystemTime(start + jump);
    const log = await openAuditLog({ path, secret: SECRET });
    await log.appendDurable({ event: 'note', time: new Date().toISOString(), id: `record-${++id}` });
    await log.close();
  }
  const { ok, bad, records } = await verifyAudit(path, deriveKeys([SECRET]));
  expect({ ok, bad }).toEqual({ ok: true, bad: 0 });
  expect(records).toBeGreaterThanOrEqual(4);
});

it('calls go on being answered while the clock jumps', async () => {
  const server = await startTestServer();
  const start = Date.now();
  for (const jump of [0, -24 * HOUR, 365 * 24 * HOUR]) {
    vi.setSystemTime(start + jump);
    const { structuredContent } = await server.call('mesh_status', {});
    expect(structuredContent).toMatchObject({ total: 2, online: 1 });
  }
  await server.close();
});
