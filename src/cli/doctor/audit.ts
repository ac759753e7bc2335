import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

import { deriveKeys } from '../../audit/chain.ts';
import type { AuditSettings } from '../../audit/settings.ts';
import { verifyAudit } from '../../audit/verify.ts';
import { messageOf } from '../../core/errors.ts';
import { orAborted } from '../../net/or-aborted.ts';
import { nearestDirectory, writableFile } from './files.ts';
import { type Finding, LONGEST_MS, fail, ok, warn } from './report.ts';

const NAME = 'audit';
const CHAIN = 'audit chain';
const WRITABLE =
  'Give the server a file and a directory that it may write (AUDIT_LOG_PATH); without a record every call is refused.';
const LOOK = 'remote-tool-server audit verify';

/**
 * Whether the log can be written, and whether what is in it holds. It only reads: a second writer would break the
 * chain of the server that runs.
 * @param secrets MCP_SECRET and the one before it
 */
export async function checkAudit(
  { enabled, path }: AuditSettings,
  secrets: readonly string[],
): Promise<Finding[]> {
  if (!enabled) return [warn(NAME, 'off: no call is recorded', 'Set AUDIT_ENABLED=true.')];
  let written: Date | undefined;
  try {
    written = await writableFile(path, { followLinks: false });
    // Full files are renamed to a number beside it.
    if (written) await access(dirname(path), constants.W_OK | constants.X_OK);
  } catch (error) {
    return [fail(NAME, `${path} cannot be written: ${messageOf(error)}`, WRITABLE)];
  }
  if (written === undefined) return [ok(NAME, `no record yet; ${path} can be made`)];
  return [
    ok(NAME, `${path} is writable, last written ${written.toISOString()}`),
    await verified(path, secrets),
  ];
}

async function verified(path: string, secrets: readonly string[]): Promise<Finding> {
  const late = AbortSignal.timeout(LONGEST_MS - 1_000);
  try {
    const found = await orAborted(verifyAudit(path, deriveKeys(secrets)), late);
    const { first, unverifiable, verified: count } = found;
    if (first) {
      const detail = `${first.kind} at ${first.file}, line ${first.line}: ${first.detail}`;
      return fail(
        CHAIN,
        detail,
        `Somebody or something else wrote there; see ${LOOK} and a copy of the log.`,
      );
    }
    const other = [...unverifiable.values()].reduce((sum, records) => sum + records, 0);
    if (other > 0 || !found.ok) {
      const detail = `records that hold: ${count}; made with a secret that is not known here any more: ${other}`;
      return warn(CHAIN, detail, `To verify those, run ${LOOK} with that secret.`);
    }
    return ok(CHAIN, `holds; records: ${count}`);
  } catch (error) {
    if (error !== late.reason) throw error;
    return warn(CHAIN, 'too long to be verified within seconds', `Run ${LOOK}.`);
  }
}

const MIB = 1024 ** 2;
const LITTLE = 1024 * MIB;
const NOTHING = 64 * MIB;

/** Whether there is room for the log. */
export async function checkDisk({ path }: AuditSettings): Promise<Finding> {
  const directory = await nearestDirectory(path);
  const { bavail, bsize } = await statfs(directory);
  return diskFinding(bavail * bsize, directory);
}

export function diskFinding(free: number, directory: string): Finding {
  const name = 'disk space';
  const detail = `${Math.floor(free / MIB).toLocaleString('en')} MiB free at ${directory}, where the audit log is`;
  const mend = 'Free some, or move AUDIT_LOG_PATH; when the disk is full every call is refused.';
  if (free < NOTHING) return fail(name, detail, mend);
  return free < LITTLE ? warn(name, detail, mend) : ok(name, detail);
}
