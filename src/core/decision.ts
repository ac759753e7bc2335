import type { ToolError } from './errors.ts';

/**
 * What a policy says of a call, as a value, so that it can be audited before anything runs.
 * `answer` is a refusal that is a normal result (ssh_exec's `blocked: true`);
 * `error` is a refusal that is a failure (`domain_not_allowed`).
 */
export type Decision =
  | { verdict: 'allow' }
  | { verdict: 'dry_run' }
  | { verdict: 'refuse'; rule: string; answer: Record<string, unknown> }
  | { verdict: 'refuse'; rule: string; error: ToolError };

export const ALLOW: Decision = { verdict: 'allow' };
