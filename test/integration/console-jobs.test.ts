import { afterEach, describe, expect, it } from 'vitest';

import type { AuditRecord } from '../../src/audit/record.ts';
import type { ConsoleParts } from '../../src/console/parts.ts';
import type { JobSummary } from '../../src/core/jobs.ts';
import { createLog } from '../../src/core/log.ts';
import { DEMO_SECRET, type DemoConsole, startDemoConsole } from '../support/console-demo.ts';

const running: JobSummary = {
  id: 'j1',
  device: 'db-1',
  user: 'deploy',
  command: 'sleep 600 # <b>long</b>',
  started_at: '2026-01-01T00:00:00Z',
  ended_at: null,
  exit_code: null,
  signal: null,
  timed_out: false,
  cancelled: false,
};
const ended = { ...running, id: 'j0', ended_at: '2026-01-01T00:02:05Z', command: 'make' };

let page: DemoConsole;
afterEach(() => page.close());

/** The console over `jobs`, and what it did to them. */
async function over(jobs: JobSummary[], instead: Partial<ConsoleParts> = {}) {
  const cancelled: string[] = [];
  const records: AuditRecord[] = [];
  const logged: string[] = [];
  page = await startDemoConsole({
    jobs: {
      list: () => jobs,
      cancel: async (id) => {
        cancelled.push(id);
        return true;
      },
    },
    record: async (record) => void records.push(record),
    log: createLog((line) => logged.push(line)),
    ...instead,
  });
  const authorization = `Bearer ${DEMO_SECRET}`;
  return {
    cancelled,
    records,
    logged,
    text: async () => (await fetch(`${page.base}/console`, { headers: { authorization } })).text(),
    /** Presses the button, by the secret in a header; where it leads. */
    stop: async (id: string) => {
      const response = await fetch(`${page.base}/console/jobs/${id}/cancel`, {
        method: 'POST',
        headers: { authorization },
        redirect: 'manual',
      });
      return response.headers.get('location');
    },
  };
}

describe('jobs on the console', () => {
  it('have a button while they run', async () => {
    const { text } = await over([running, ended]);
    const html = await text();
    expect(html).toContain('action="/console/jobs/j1/cancel"');
    expect(html).not.toContain('action="/console/jobs/j0/cancel"');
    expect(html).toContain('sleep 600 # &lt;b&gt;long&lt;/b&gt;');
    expect(html).toContain('2 min 5 s');
  });

  it.each<[Partial<JobSummary>, string]>([
    [{ exit_code: 0 }, 'Done'],
    [{ exit_code: 3 }, 'Failed exit code 3'],
    [{ signal: 'SIGTERM', cancelled: true }, 'Stopped signal SIGTERM'],
    [{ timed_out: true }, 'Timed out connection lost'],
  ])('that ended say how: %o', async (facts, said) => {
    const { text } = await over([{ ...ended, ...facts }]);
    const row = (await text()).split('<tr').find((each) => each.includes('>make<'));
    expect(row?.replaceAll(/<[^>]+>|\s+/g, ' ').replaceAll(/ +/g, ' ')).toContain(said);
  });

  it('are stopped, after that was put on record', async () => {
    const { stop, cancelled, records } = await over([running]);
    expect(await stop('j1')).toBe('/console?notice=stopped#jobs');
    expect(cancelled).toEqual(['j1']);
    expect(records).toMatchObject([
      {
        event: 'note',
        message: 'console: stop of job j1 on db-1',
        client: { name: 'node', ip: '203.0.113.7' },
      },
    ]);
  });

  it('of nowhere, and ended ones, are left alone', async () => {
    const { stop, cancelled, records } = await over([ended]);
    expect(await stop('j0')).toBe('/console?notice=ended#jobs');
    expect(await stop('..%2Fj9')).toBe('/console?notice=ended#jobs');
    expect([cancelled, records]).toEqual([[], []]);
  });

  it('are stopped on a full disk too, and the page says that the record is missing', async () => {
    const { stop, cancelled, logged } = await over([running], {
      record: () => Promise.reject(new Error('ENOSPC')),
    });
    expect(await stop('j1')).toBe('/console?notice=unrecorded#jobs');
    expect(cancelled).toEqual(['j1']);
    expect(logged.join('')).toContain('ENOSPC');
  });

  it('that cannot be stopped are said to be so', async () => {
    const { stop, logged } = await over([], {
      jobs: { list: () => [running], cancel: () => Promise.reject(new Error('no connection')) },
    });
    expect(await stop('j1')).toBe('/console?notice=failed#jobs');
    expect(logged.join('')).toContain('no connection');
  });

  it('show no secret of their command', async () => {
    const { text } = await over([{ ...running, command: 'curl -H "k: tok&en"' }], {
      redact: (given) => given.replaceAll('tok&en', '[redacted]'),
    });
    expect(await text()).toContain('[redacted]');
    expect(await text()).not.toContain('tok&amp;en');
  });
});

describe('what the console cannot reach', () => {
  it('is said on the page, not instead of it', async () => {
    const { text } = await over([], {
      mesh: {
        network: 'away',
        devices: () => Promise.reject(new Error('The mesh network’s API did not answer')),
        device: () => Promise.reject(new Error('away')),
      },
      trail: undefined,
    });
    const html = await text();
    expect(html).toContain('The mesh network’s API did not answer');
    expect(html).toContain('The audit log is off');
    expect(html).toContain('No command runs on.');
  });
});
