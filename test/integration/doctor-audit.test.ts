import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { openAuditLog } from '../../src/audit/log.ts';
import { createPatient, type Patient, SECRET } from '../support/doctor.ts';

let patient: Patient;
let env: Patient['env'];
beforeEach(async () => {
  patient = await createPatient();
  ({ env } = patient);
});
afterEach(() => patient.close());

describe('the audit log', () => {
  const path = () => env['AUDIT_LOG_PATH'] ?? '';

  async function write(secret: string) {
    const log = await openAuditLog({ path: path(), secret });
    await log.appendDurable({ event: 'note', time: '2026-11-20T00:00:00.000Z', id: '1', message: 'first' });
    await log.close();
  }

  it('that holds is verified, and read only', async () => {
    await write(SECRET);
    const before = readFileSync(path(), 'utf8');
    const { of } = await patient.examine();
    expect(of('audit')[0]).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/audit\.log is writable, last written 20\d\d-/),
    });
    expect(of('audit chain')).toEqual([{ name: 'audit chain', status: 'ok', detail: 'holds; records: 2' }]);
    expect(readFileSync(path(), 'utf8')).toBe(before);
  });

  it('that somebody changed', async () => {
    await write(SECRET);
    writeFileSync(path(), readFileSync(path(), 'utf8').replace('first', 'other'));
    expect((await patient.examine()).of('audit chain')[0]).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/^changed at .*audit\.log, line 2: /),
      mend: expect.stringContaining('remote-tool-server audit verify'),
    });
  });

  it('of another secret than those known here', async () => {
    await write('e'.repeat(64));
    expect((await patient.examine()).of('audit chain')[0]).toMatchObject({ status: 'warn' });
    Object.assign(env, { MCP_SECRET_PREVIOUS: 'e'.repeat(64) });
    expect((await patient.examine()).of('audit chain')[0]).toMatchObject({ status: 'ok' });
  });

  it('that is a directory', async () => {
    mkdirSync(path());
    expect((await patient.examine()).of('audit')[0]).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/audit\.log cannot be written: it is a directory$/),
      mend: expect.stringContaining('without a record every call is refused'),
    });
  });

  it('that is a symbolic link', async () => {
    symlinkSync('/dev/null', path());
    expect((await patient.examine()).of('audit')[0]).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/cannot be written: it is a symbolic link, which is not followed$/),
    });
  });

  it('that is turned off', async () => {
    Object.assign(env, { AUDIT_ENABLED: 'false' });
    expect((await patient.examine()).of('audit')[0]).toMatchObject({
      status: 'warn',
      mend: 'Set AUDIT_ENABLED=true.',
    });
  });
});
