import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { noAudit } from '../../../src/audit/log.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createGate } from '../../../src/gate/call.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';
import type { Mesh } from '../../../src/mesh/device.ts';
import type { SshSettings } from '../../../src/tools/ssh-exec/settings.ts';
import { createSshExec } from '../../../src/tools/ssh-exec/tool.ts';

/** ssh_exec behind the gate, with a mesh of one device where none is given. */
export function createRig(
  host: string,
  port: number,
  settings: Partial<SshSettings> = {},
  privateKey?: string,
  otherMesh?: Mesh,
) {
  const state = mkdtempSync(join(tmpdir(), 'ssh-exec-'));
  const knownHostsPath = join(state, 'known_hosts');
  const lines: string[] = [];
  const log = { ...silentLog, info: (message: string) => void lines.push(message) };
  const device = {
    name: 'web-1',
    dns_name: 'web-1.tail.ts.net',
    addresses: [host],
    os: 'linux',
    online: true,
    last_seen: null,
    tags: [],
    user: null,
    client_version: null,
    update_available: null,
    key_expires: null,
  };
  const mesh: Mesh = otherMesh ?? {
    network: 'test',
    devices: async () => [device],
    device: async (name) => ({ ...device, online: name !== 'laptop-1', name }),
  };
  const tool = createSshExec({
    settings: {
      blockedCommands: ['rm -rf'],
      allowedDirs: [],
      dryRun: false,
      defaultUser: 'demo',
      port,
      keyPath: '',
      knownHostsPath,
      connectTimeoutSeconds: 10,
      maxJobs: 32,
      ...settings,
    },
    mesh,
    privateKey,
    log,
  });
  const gate = createGate({
    tools: [tool],
    audit: noAudit,
    metrics: createMetrics(),
    redact: (text) => text,
    limits: { concurrent: 0, concurrentByTool: {}, perMinute: 0, perMinuteByTool: {} },
    log: silentLog,
  });

  return {
    knownHostsPath,
    connections: () => lines.filter((line) => line === 'ssh connected').length,
    async exec(args: Record<string, unknown>, signal = new AbortController().signal) {
      const { structuredContent, isError } = await gate.call({
        tool: 'ssh_exec',
        arguments: { device: 'web-1', ...args },
        client: { name: 'test', ip: '127.0.0.1' },
        signal,
        progress: () => {},
      });
      return { ...(structuredContent as unknown as Answer), isError };
    },
    async close() {
      await tool.close();
      rmSync(state, { recursive: true });
    },
  };
}

export type Rig = ReturnType<typeof createRig>;

interface Answer {
  exit_code?: number | null;
  signal?: string | null;
  stdout: string;
  stderr: string;
  stdout_truncated?: boolean;
  duration_ms?: number;
  timed_out?: boolean;
  hint?: string;
  error?: { code: string; message: string; hint?: string; stdout?: string };
}

/** Waits until the check holds, and fails with the last value after 15 s. */
export async function until<T>(look: () => Promise<T> | T, holds: (value: T) => boolean): Promise<T> {
  const end = Date.now() + 15_000;
  for (;;) {
    const value = await look();
    if (holds(value)) return value;
    if (Date.now() > end) throw new Error(`still ${JSON.stringify(value)} after 15 s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
