import { expect, it } from 'vitest';

import { type AuditLog, noAudit } from '../audit/log.ts';
import type { AuditRecord } from '../audit/record.ts';
import { type Log, silentLog } from '../core/log.ts';
import { lateOutcomes } from './late-outcome.ts';

const CALL = { id: 'call-1', tool: 'ssh_exec', client: { name: 'test', ip: '127.0.0.1' } };
const turn = () => new Promise((resolve) => setImmediate(resolve));

it('follows the outcome of its own call, however early it comes', async () => {
  const records: AuditRecord[] = [];
  const audit: AuditLog = { ...noAudit, append: async (record) => void records.push(record) };
  let answer!: () => void;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const written = lateOutcomes(audit, silentLog)({ ...CALL, answered })({
    job: 'abc',
    exitCode: 2,
    durationMs: 40,
  });
  await turn();
  expect(records).toEqual([]);
  answer();
  await written;
  expect(records).toEqual([
    {
      ...CALL,
      event: 'ended',
      time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      job: 'abc',
      outcome: 'ok',
      exit_code: 2,
      duration_ms: 40,
    },
  ]);
});

it('that cannot be written is told in the log and fails nothing', async () => {
  const told: string[] = [];
  const log: Log = { ...silentLog, error: (message) => void told.push(message) };
  const audit: AuditLog = { ...noAudit, append: () => Promise.reject(new Error('disk full')) };
  await lateOutcomes(audit, log)({ ...CALL, answered: Promise.resolve() })({
    job: 'abc',
    exitCode: null,
    durationMs: 1,
  });
  expect(told).toEqual(['audit record not written']);
});
