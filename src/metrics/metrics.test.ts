import { describe, expect, it } from 'vitest';

import { createMetrics } from './metrics.ts';

const lines = async (metrics: ReturnType<typeof createMetrics>, name: string) =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith(`remote_tool_server_${name}`));

describe('createMetrics', () => {
  it('counts calls by tool, outcome and error code, and refusals by rule', async () => {
    const metrics = createMetrics();
    metrics.call({ id: 'call-1', tool: 'mesh_status', outcome: 'ok', seconds: 0.02 });
    metrics.call({ id: 'call-1', tool: 'mesh_status', outcome: 'ok', seconds: 0.02 });
    metrics.call({ id: 'call-1', tool: 'mesh_status', outcome: 'error', errorCode: 'timeout', seconds: 10 });
    metrics.call({ id: 'call-1', tool: 'ssh_exec', outcome: 'blocked', rule: 'blocked: dd', seconds: 0 });
    expect(await lines(metrics, 'calls_total')).toEqual([
      'remote_tool_server_calls_total{tool="mesh_status",outcome="ok",error_code=""} 2',
      'remote_tool_server_calls_total{tool="mesh_status",outcome="error",error_code="timeout"} 1',
      'remote_tool_server_calls_total{tool="ssh_exec",outcome="blocked",error_code=""} 1',
    ]);
    expect(await lines(metrics, 'refusals_total')).toEqual([
      'remote_tool_server_refusals_total{tool="ssh_exec",rule="blocked: dd"} 1',
    ]);
    expect(await lines(metrics, 'call_duration_seconds_count{tool="mesh_status"}')).toEqual([
      'remote_tool_server_call_duration_seconds_count{tool="mesh_status"} 3',
    ]);
  });

  it('keeps the number of rules bounded, and paths out of them', async () => {
    const metrics = createMetrics();
    const refuse = (rule: string) =>
      metrics.call({ id: 'call-1', tool: 'ssh_exec', outcome: 'blocked', rule, seconds: 0 });
    for (let i = 0; i < 50; i += 1) refuse(`outside allowed directories: /etc/${i}`);
    expect(await lines(metrics, 'refusals_total')).toEqual([
      'remote_tool_server_refusals_total{tool="ssh_exec",rule="outside allowed directories"} 50',
    ]);
    for (let i = 0; i < 200; i += 1) refuse(`blocked: ${i}`);
    expect(await lines(metrics, 'refusals_total')).toHaveLength(101);
  });

  it('reads gauges when asked', async () => {
    const metrics = createMetrics();
    let value: number | undefined = 3;
    metrics.gauge('ssh_connections', 'Open connections.', () => value);
    expect(await lines(metrics, 'ssh_connections')).toEqual(['remote_tool_server_ssh_connections 3']);
    value = 4;
    expect(await lines(metrics, 'ssh_connections')).toEqual(['remote_tool_server_ssh_connections 4']);
    value = undefined;
    expect(await lines(metrics, 'ssh_connections')).toEqual([]);
  });
});
