/**
 * The failures an assistant can act on. Each becomes a tool result with `isError: true`
 * and `{ error: { code, message, hint? } }`; anything else becomes `internal`.
 */
export const ERROR_CODES = [
  'invalid_input',
  'device_not_found',
  'device_offline',
  'ssh_unreachable',
  'ssh_auth_failed',
  'host_key_changed',
  'timeout',
  'cancelled',
  'domain_not_allowed',
  'address_not_allowed',
  'too_large',
  'auth_failed',
  'missing_scope',
  'rate_limited',
  'not_found',
  'conflict',
  'upstream_error',
  'cli_not_found',
  'connection_refused',
  'page_crashed',
  'internal',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface ErrorDetails {
  /** What to do next, in one sentence. */
  hint?: string;
  /** Seconds until the same call may succeed; with `rate_limited`. */
  retryAfterSeconds?: number;
  /** Further facts of the failure, for example the current version with `conflict`. */
  facts?: Record<string, unknown>;
  cause?: unknown;
}

/** A failure with a code, thrown by a tool or by the client of an outside system. */
export class ToolError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ToolError';
    this.code = code;
    this.details = details;
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a Node system error (`ECONNREFUSED`, `ENOSPC`, …), wherever it stands in the chain of causes. */
export function systemCodeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
  }
  return undefined;
}
