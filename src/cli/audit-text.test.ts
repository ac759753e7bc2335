import { describe, expect, it } from 'vitest';

import { entryText } from './audit-text.ts';

const COMMON = {
  time: '2026-11-20T12:00:00.000Z',
  id: 'call-1',
  tool: 'ssh_exec',
  client: { name: 'me', ip: '192.0.2.1' },
};
/** Without the local time at its start and the padding between columns. */
const words = (text: string) => text.replace(/^\S+ \S+\s+/, '').replaceAll(/\s{2,}/g, ' | ');

describe('a line of audit tail', () => {
  it('joins an intent and its outcome', () => {
    const record = {
      ...COMMON,
      event: 'intent' as const,
      decision: 'allow' as const,
      arguments: { device: 'web-1', command: 'uptime' },
    };
    const outcome = { ...COMMON, event: 'outcome' as const, outcome: 'ok' as const, duration_ms: 12 };
    expect(words(entryText({ id: 'call-1', record, outcome }))).toBe(
      'ok | ssh_exec | 12 ms | me@192.0.2.1 | web-1: uptime',
    );
  });

  it('tells how a job ended', () => {
    const record = {
      ...COMMON,
      event: 'ended' as const,
      outcome: 'ok' as const,
      job: '8a1a58311309',
      duration_ms: 61_000,
    };
    expect(words(entryText({ id: 'call-1', record: { ...record, exit_code: 3 } }))).toBe(
      'ok | ssh_exec | 61.0 s | me@192.0.2.1 | job 8a1a58311309 ended: exit code 3',
    );
    expect(
      words(
        entryText({ id: 'call-1', record: { ...record, exit_code: null, message: 'the server stopped' } }),
      ),
    ).toContain('job 8a1a58311309 ended: the server stopped');
  });
});
