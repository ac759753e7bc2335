import { ALLOW, type Decision } from '../../core/decision.ts';
import { blockedBy } from './blocklist.ts';
import { pathOutside } from './paths.ts';

export interface SshRequest {
  command: string;
  cwd?: string | undefined;
  stdin?: string | undefined;
  dry_run?: boolean | undefined;
}

export interface SshPolicy {
  blockedCommands: readonly string[];
  allowedDirs: readonly string[];
  dryRun: boolean;
}

const LONGEST_PATH = 200;

/**
 * What the operator's lists say of a command: blocklist, then directories, then dry-run.
 *
 * Both lists are guard rails against slips, not a boundary: a shell can always compute a name that no reader of
 * its text foresees (`policy.test.ts` lists known misses). The boundary is the account on the device.
 */
export function decideSsh(request: SshRequest, policy: SshPolicy): Decision {
  const { command, cwd, stdin } = request;
  for (const text of [command, stdin, cwd]) {
    const rule = text === undefined ? undefined : blockedBy(text, policy.blockedCommands);
    if (rule !== undefined) {
      return { verdict: 'refuse', rule: `blocked: ${rule}`, answer: { blocked: true, matched_rule: rule } };
    }
  }
  if (policy.allowedDirs.length > 0) {
    const path = pathOutside({ command, cwd, stdin }, policy.allowedDirs)?.slice(0, LONGEST_PATH);
    if (path !== undefined) {
      const answer = { blocked: true, reason: 'Path not in allowed directories', path };
      return { verdict: 'refuse', rule: `outside allowed directories: ${path}`, answer };
    }
  }
  // A call can turn dry-run on, never off.
  return policy.dryRun || request.dry_run === true ? { verdict: 'dry_run' } : ALLOW;
}
