import type { JobSummary } from '../core/jobs.ts';
import type { Device } from '../mesh/device.ts';
import type { ToolHistory } from '../metrics/history.ts';
import { createFresh, type Reading } from './fresh.ts';
import type { ConsoleParts, SettingView } from './parts.ts';
import type { TrailEntry } from './trail.ts';

export interface Check {
  name: string;
  ok: boolean;
  detail: string;
  latencyMs: number;
}

export interface HealthView {
  version: string;
  uptimeSeconds: number;
  checks: Check[];
}

export interface AuditQuery {
  tool: string;
  state: string;
  text: string;
  /** From 1. */
  page: number;
}

/** All that one rendering of the page shows, read at one moment. */
export interface View {
  host: string;
  network: string;
  dryRun: boolean;
  devices: Reading<readonly Device[]>;
  health: Reading<HealthView>;
  calls: ToolHistory[];
  jobs: JobSummary[];
  /** Undefined where the audit log is off. */
  trail: { entries: TrailEntry[]; query: AuditQuery } | undefined;
  tools: readonly string[];
  settings: SettingView[];
  /** For the forms of this session. */
  formToken: string;
}

/** The mesh API and the other outside systems are not asked more often than this, however many people look. */
const FRESH = { maxAgeMs: 15_000, patienceMs: 1_500 };
const MESH_TIMEOUT_MS = 10_000;

/** Makes the function that reads a view. */
export function createViews(parts: ConsoleParts): (query: AuditQuery, formToken: string) => Promise<View> {
  const devices = createFresh(() => parts.mesh.devices(AbortSignal.timeout(MESH_TIMEOUT_MS)), FRESH);
  const health = createFresh(async () => healthOf(await parts.health.verbose()), FRESH);

  return async (query, formToken) => {
    const [deviceReading, healthReading] = await Promise.all([devices(), health()]);
    return {
      host: parts.publicHost,
      network: parts.mesh.network,
      dryRun: parts.health.brief().dry_run,
      devices: deviceReading,
      health: healthReading,
      calls: parts.history.read(parts.tools),
      jobs: parts.jobs.list().map((job) => ({ ...job, command: parts.redact(job.command) })),
      trail: parts.trail && {
        entries: parts.trail.find({ tool: query.tool, state: query.state, text: query.text }),
        query,
      },
      tools: parts.tools,
      settings: parts.settings(),
      formToken,
    };
  };
}

function healthOf(verbose: Record<string, unknown>): HealthView {
  const { version, uptime_seconds, checks } = verbose as {
    version: string;
    uptime_seconds: number;
    checks: Record<string, { ok: boolean; detail: string; latency_ms: number }>;
  };
  return {
    version,
    uptimeSeconds: uptime_seconds,
    checks: Object.entries(checks).map(([name, { ok, detail, latency_ms }]) => ({
      name: name.replaceAll('_', ' '),
      ok,
      detail,
      latencyMs: latency_ms,
    })),
  };
}
