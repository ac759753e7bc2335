import { ALLOW, type Decision } from '../../core/decision.ts';
import { blockedBy } from './blocklist.ts';
import { Budget, TooIntricate } from './budget.ts';
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
/** In the place of a rule: what cannot be read in a bounded number of steps is not let past the lists. */
const TOO_INTRICATE = 'too intricate to be checked';
const PLAINER =
  'Its quotes, variables or encodings take too long to follow: write it plainly, or in shorter calls.';

/**
 * What the operator's lists say of a command: blocklist, then directories, then dry-run. A text too intricate to be
 * read within its budget of steps is refused.
 *
 * Both lists are guard rails against slips, not a boundary: a shell can always compute a name that no reader of
 * its text foresees (`policy.test.ts` lists known misses). The boundary is the account on the device.
 */
export function decideSsh(request: SshRequest, policy: SshPolicy): Decision {
  try {
    const refusal = refusedBy(request, policy);
    if (refusal) return refusal;
  } catch (error) {
    if (!(error instanceof TooIntricate)) throw error;
    return {
      verdict: 'refuse',
      rule: TOO_INTRICATE,
      answer: { blocked: true, matched_rule: TOO_INTRICATE, reason: PLAINER },
    };
  }
  // A call can turn dry-run on, never off.
  return policy.dryRun || request.dry_run === true ? { verdict: 'dry_run' } : ALLOW;
}

/** @throws TooIntricate */
function refusedBy({ command, cwd, stdin }: SshRequest, policy: SshPolicy): Decision | undefined {
  const texts = [command, stdin, cwd].filter((text) => text !== undefined);
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const budget = new Budget(length);
  for (const text of texts) {
    const rule = blockedBy(text, policy.blockedCommands, budget);
    if (rule !== undefined) {
      return { verdict: 'refuse', rule: `blocked: ${rule}`, answer: { blocked: true, matched_rule: rule } };
    }
  }
  if (policy.allowedDirs.length === 0) return undefined;
  const path = pathOutside({ command, cwd, stdin }, policy.allowedDirs, new Budget(length));
  if (path === undefined) return undefined;
  const shown = path.slice(0, LONGEST_PATH);
  const answer = { blocked: true, reason: 'Path not in allowed directories', path: shown };
  return { verdict: 'refuse', rule: `outside allowed directories: ${shown}`, answer };
}
