import type { AuditRecord } from '../audit/record.ts';
import type { JobControl } from '../core/jobs.ts';
import type { Log } from '../core/log.ts';
import type { Mesh } from '../mesh/device.ts';
import type { CallHistory } from '../metrics/history.ts';
import type { Trail } from './trail.ts';

/** A setting as the page shows it. */
export interface SettingView {
  group: string;
  /** What people read as the group's heading. */
  title: string;
  env: string;
  meaning: string;
  /** Undefined for a secret: its value never comes this way. */
  value: string | undefined;
  /** Whether a value other than the empty one is in force. */
  set: boolean;
  secret: boolean;
  source: 'default' | 'environment' | 'file';
}

/** What the console shows and controls; it knows of the rest of the process by this alone. */
export interface ConsoleParts {
  /** MCP_SECRET, and the one before it while a rotation lasts; '' for none. */
  secret: string;
  previousSecret: string;
  publicHost: string;
  /** Whether a request carries the secret, in the query or a header. */
  authenticated: (request: Request) => boolean;
  /** The client's address, told by a trusted proxy's X-Forwarded-For or the connection. */
  clientAddress: (peer: string | undefined, forwardedFor: string | null) => Promise<string>;
  tools: readonly string[];
  mesh: Mesh;
  health: { brief(): { dry_run: boolean }; verbose(): Promise<Record<string, unknown>> };
  history: CallHistory;
  jobs: JobControl;
  /** Undefined where the audit log is off. */
  trail: Trail | undefined;
  /** Writes an audit record durably. */
  record: (record: AuditRecord) => Promise<void>;
  settings: () => SettingView[];
  redact: (text: string) => string;
  log: Log;
}
