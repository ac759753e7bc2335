import type { AuditRecord } from '../audit/record.ts';
import { createTrailBacklog } from './trail-backlog.ts';

/** `lost`: the process ended before the outcome was written. */
export type TrailState = 'running' | 'ok' | 'blocked' | 'error' | 'lost' | 'note';

/** One call, made of its intent and its outcome; or a note on the log itself. */
export interface TrailEntry {
  id: string;
  /** ISO 8601, UTC. */
  time: string;
  state: TrailState;
  tool: string;
  /** Name and address. */
  client: string;
  /** As JSON, cut. */
  arguments: string;
  dryRun: boolean;
  rule: string;
  errorCode: string;
  durationMs: number | null;
  bytes: number | null;
  /** The job that the call started, read or ended. */
  job: string;
  /** How a job ended that outlived this call; `state` and `durationMs` are then the job's. */
  jobEnd: string;
  /** Of a note. */
  message: string;
}

export interface TrailFilter {
  tool?: string | undefined;
  state?: string | undefined;
  /** Occurs anywhere in the entry, letters' case ignored. */
  text?: string | undefined;
}

export interface Trail {
  /** Takes in lines as they were written to the log. */
  written(lines: Buffer): void;
  /** Takes in what an earlier process wrote, the oldest first. */
  restore(records: readonly AuditRecord[]): void;
  /** The entries that match, the newest first. */
  find(filter: TrailFilter): TrailEntry[];
}

const MOST_ENTRIES = 500;
/** Intent, outcome, and the end of a job. */
const RECORDS_A_CALL = 3;
const LONGEST_ARGUMENTS = 4_096;

/** The newest entries of the audit log in memory: at most 3 MiB, and as much of what nobody has looked at yet. */
export function createTrail(most = MOST_ENTRIES): Trail {
  /** In the order in which they began. */
  const entries = new Map<string, TrailEntry>();

  function add(record: AuditRecord): void {
    const before = entries.get(record.id);
    entries.set(record.id, { ...(before ?? entryOf(record)), ...outcomeOf(record) });
    if (entries.size <= most) return;
    const [oldest = ''] = entries.keys();
    entries.delete(oldest);
  }

  const backlog = createTrailBacklog(most * RECORDS_A_CALL, add);

  return {
    written: (lines) => backlog.put(lines),
    restore(records) {
      for (const record of records) add(record);
      for (const entry of entries.values()) if (entry.state === 'running') entry.state = 'lost';
    },
    find({ tool, state, text }) {
      backlog.empty();
      const wanted = text?.toLowerCase();
      return [...entries.values()]
        .toReversed()
        .filter(
          (entry) =>
            (!tool || entry.tool === tool) &&
            (!state || entry.state === state) &&
            (!wanted || searchable(entry).includes(wanted)),
        );
    },
  };
}

function entryOf(record: AuditRecord): TrailEntry {
  const { id, time, tool = '', client, message = '' } = record;
  return {
    id,
    time,
    tool,
    client: client ? `${client.name} ${client.ip}` : '',
    arguments: argumentsOf(record),
    dryRun: record.decision === 'dry_run',
    message: record.event === 'note' ? message : '',
    state: 'running',
    rule: '',
    errorCode: '',
    durationMs: null,
    bytes: null,
    job: '',
    jobEnd: '',
  };
}

/** What a record adds to the entry of its call. */
function outcomeOf(record: AuditRecord): Partial<TrailEntry> {
  const { event, outcome, rule = '', error_code: errorCode = '', duration_ms = null, job = '' } = record;
  switch (event) {
    case 'note':
      return { state: 'note' };
    case 'intent':
      return { state: 'running' };
    case 'ended': {
      const code = record.exit_code ?? null;
      const how = [code === null ? '' : `exit code ${code}`, record.message ?? ''].filter(Boolean).join(', ');
      return { state: outcome ?? 'error', errorCode, durationMs: duration_ms, job, jobEnd: how || 'ended' };
    }
    default:
      return {
        state: outcome ?? 'error',
        rule,
        errorCode,
        durationMs: duration_ms,
        bytes: record.bytes ?? null,
        job,
      };
  }
}

function argumentsOf({ arguments: args }: AuditRecord): string {
  if (args === undefined) return '';
  const text = JSON.stringify(args);
  return text.length > LONGEST_ARGUMENTS ? `${text.slice(0, LONGEST_ARGUMENTS)}…` : text;
}

function searchable(entry: TrailEntry): string {
  const { tool, client, rule, errorCode, message, id, job } = entry;
  return [tool, client, entry.arguments, rule, errorCode, message, id, job].join('\n').toLowerCase();
}
