import { describe, expect, it } from 'vitest';

import { createHistory, withHistory } from './history.ts';
import { createMetrics } from './metrics.ts';

const MINUTE = 60_000;
const call = (tool: string, outcome: string, seconds: number) => ({ tool, outcome, seconds });

describe('the history of calls', () => {
  it('counts by tool, minute and outcome, the current minute last', () => {
    let now = 1_000 * MINUTE;
    const history = createHistory(() => now);
    history.add(call('browser', 'ok', 1));
    history.add(call('browser', 'blocked', 1));
    now += 3 * MINUTE;
    history.add(call('browser', 'error', 1));
    const [read] = history.read(['browser']);
    expect(read?.minutes).toHaveLength(60);
    expect(read?.minutes[56]).toMatchObject({ calls: 2, ok: 1, blocked: 1, errors: 0 });
    expect(read?.minutes[58]).toEqual({ calls: 0, ok: 0, blocked: 0, errors: 0, p50: null, p95: null });
    expect(read?.minutes[59]).toMatchObject({ calls: 1, ok: 0, blocked: 0, errors: 1 });
    expect(read?.total).toMatchObject({ calls: 3, ok: 1, blocked: 1, errors: 1 });
  });

  it('forgets what is an hour old, and what a slot held before', () => {
    let now = 0;
    const history = createHistory(() => now);
    history.add(call('browser', 'ok', 1));
    now = 59 * MINUTE;
    expect(history.read(['browser'])[0]?.total.calls).toBe(1);
    now = 60 * MINUTE;
    expect(history.read(['browser'])[0]?.total.calls).toBe(0);
    history.add(call('browser', 'ok', 1));
    expect(history.read(['browser'])[0]?.total.calls).toBe(1);
  });

  it.each([
    ['0 s', 0, 0, 0.11],
    ['3 ms', 0.003, 2.7, 3.3],
    ['1 s', 1, 900, 1_100],
    ['an hour', 3_600, 3_240_000, 3_960_000],
  ])('knows a duration of %s within a tenth', (_, seconds, least, most) => {
    const history = createHistory();
    history.add(call('browser', 'ok', seconds));
    const p50 = history.read(['browser'])[0]?.total.p50;
    expect(p50).toBeGreaterThanOrEqual(least);
    expect(p50).toBeLessThanOrEqual(most);
  });

  it('tells the median from the slowest', () => {
    const history = createHistory();
    for (let i = 0; i < 90; i += 1) history.add(call('browser', 'ok', 0.01));
    for (let i = 0; i < 10; i += 1) history.add(call('browser', 'ok', 10));
    const total = history.read(['browser'])[0]?.total;
    expect(Math.round(total?.p50 ?? 0)).toBe(10);
    expect(Math.round((total?.p95 ?? 0) / 1000)).toBe(10);
  });

  it('lists the tools asked for even when idle, then others that were called', () => {
    const history = createHistory();
    history.add(call('unknown', 'error', 0));
    expect(history.read(['ssh_exec', 'browser']).map(({ tool }) => tool)).toEqual([
      'ssh_exec',
      'browser',
      'unknown',
    ]);
  });

  it('hears of what the metrics count', async () => {
    const history = createHistory();
    const metrics = withHistory(createMetrics(), history);
    metrics.call({ id: 'call-1', ...call('browser', 'ok', 0.2) });
    expect(history.read([])[0]?.total.calls).toBe(1);
    expect(await metrics.text()).toContain('calls_total{tool="browser",outcome="ok",error_code=""} 1');
  });
});
