/**
 * One line of the audit log. Field names are written here and nowhere else.
 *
 * `intent` is durable before the action runs; `outcome` follows it with the same id;
 * `refused` is a call that never became an action (unknown tool, malformed, against policy);
 * `ended` tells, with the id of the call that started it, how a job ended that went on after its answer.
 */
export interface AuditRecord {
  event: 'intent' | 'outcome' | 'refused' | 'ended' | 'note';
  /** ISO 8601, UTC. */
  time: string;
  /** The call's id, shared by its intent and its outcome. */
  id: string;
  tool?: string;
  client?: AuditClient;
  /** Secrets redacted, long values cut. */
  arguments?: unknown;
  decision?: 'allow' | 'dry_run' | 'refuse' | 'invalid';
  /** The policy entry that refused the call. */
  rule?: string;
  outcome?: 'ok' | 'blocked' | 'error';
  error_code?: string;
  duration_ms?: number;
  /** Size of the result sent, in bytes. */
  bytes?: number;
  /** The job that the call started, read or ended. */
  job?: string;
  /** For `ended`: null where nobody knows, or a signal ended it. */
  exit_code?: number | null;
  /** For `note`: what happened to the log itself. For `ended`: what ended the job, if not itself. */
  message?: string;
  /** For a `note` that begins a segment: what ties it to the one before. */
  segment?: AuditSegment;
  /** For a `note` on a line that a crash cut short: its length, its digest and its beginning. */
  cut?: { bytes: number; sha256: string; beginning: string };
}

/** A record as it stands in the file; docs of the two fields: `chain.ts`. */
export interface WrittenRecord extends AuditRecord {
  /** Goes up by one a record, over all files of the log. */
  seq: number;
  /** HMAC-SHA256 in base64url, over the record before and this one. */
  mac: string;
}

export interface AuditSegment {
  /** Which key the macs from here on are made with; tells nothing of the key. */
  key: string;
  /** The mac of the record before, in whatever file that is; '' for the first one of all. */
  previous: string;
  /** The first record that is still kept: what is missing before it was dropped by AUDIT_KEEP_FILES. */
  oldest: number;
  /** Bytes before this line that were in the file when the log found it, and that no mac protects. */
  unchained?: number;
}

export interface AuditClient {
  name: string;
  ip: string;
}

const LONGEST_STRING = 2_048;
const MOST_ENTRIES = 100;
const DEEPEST = 8;

/** A copy of arguments fit for the log: long strings, long lists and deep nesting cut, each cut named. */
export function clipArguments(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') {
    return value.length <= LONGEST_STRING
      ? value
      : `${value.slice(0, LONGEST_STRING)}… [${value.length - LONGEST_STRING} more characters]`;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEEPEST) return '[nested deeper]';
  if (Array.isArray(value)) {
    const kept = value.slice(0, MOST_ENTRIES).map((entry) => clipArguments(entry, depth + 1));
    return value.length > MOST_ENTRIES ? [...kept, `[${value.length - MOST_ENTRIES} more]`] : kept;
  }
  const entries = Object.entries(value);
  const kept = entries
    .slice(0, MOST_ENTRIES)
    .map(([key, entry]) => [String(clipArguments(key)), clipArguments(entry, depth + 1)]);
  if (entries.length > MOST_ENTRIES) kept.push(['…', `[${entries.length - MOST_ENTRIES} more]`]);
  return Object.fromEntries(kept);
}
