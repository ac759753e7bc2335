import { ToolError, messageOf, systemCodeOf } from '../../core/errors.ts';
import type { Target } from './ssh.ts';

export interface ConnectFacts {
  target: Target;
  cause: unknown;
  timedOut: boolean;
  timeoutMs: number;
  /** Authentication methods that were tried, in order. */
  tried: readonly string[];
  /** What the server said before the login. */
  banners: readonly string[];
  /** Why the key was not tried, as a sentence. */
  keyFault: string | undefined;
}

const LONGEST_BANNER = 500;
const UNREACHABLE_HINT =
  'Is the mesh network’s SSH feature (or an SSH server) on at the device, and is this server’s host a member of the mesh? `mesh_status` shows the device.';

/** The one error of a connection that was not made, from all that is known of it. */
export function connectFailure(facts: ConnectFacts): ToolError {
  const { target, cause, timedOut, timeoutMs, tried } = facts;
  const where = `${target.device} (${target.address}, port ${target.port})`;
  const denied = (cause as { level?: unknown } | undefined)?.level === 'client-authentication';
  const saidNo = tried.length > 0 && /authenticat/i.test(messageOf(cause));
  if (denied || saidNo || facts.banners.length > 0) return authFailure(facts, where);
  if (timedOut) {
    const message = `Connection timed out: no login at ${where} within ${timeoutMs / 1000} s.`;
    return new ToolError('ssh_unreachable', message, { hint: UNREACHABLE_HINT });
  }
  const code = systemCodeOf(cause);
  if (code === 'ECONNREFUSED') {
    return new ToolError('ssh_unreachable', `Connection refused by ${where}.`, {
      hint: UNREACHABLE_HINT,
      cause,
    });
  }
  const why =
    code === 'EHOSTUNREACH' || code === 'ENETUNREACH'
      ? 'there is no route to it'
      : code === 'ETIMEDOUT'
        ? 'it does not answer'
        : cause === undefined
          ? 'it closed the connection before the login'
          : messageOf(cause);
  const message = `Cannot connect to ${where}: ${why}.`;
  return new ToolError('ssh_unreachable', message, { hint: UNREACHABLE_HINT, cause });
}

function authFailure({ target, tried, banners, keyFault, timedOut }: ConnectFacts, where: string): ToolError {
  const methods = tried.length === 0 ? 'no method' : tried.map((method) => `"${method}"`).join(', then ');
  const said = printable(banners.join(' '));
  const message = [
    `Authentication failed for ${target.user} at ${where}: tried ${methods}.`,
    ...(keyFault === undefined ? [] : [keyFault]),
    ...(said === '' ? [] : [`The device says: ${said}`]),
  ].join(' ');
  const url = /https?:\/\/[^\s'"<>]+/.exec(said)?.[0];
  const hint =
    url === undefined
      ? `Check that the mesh’s SSH policy admits this server as "${target.user}", or that the account’s authorized_keys holds the server’s public key; or name another \`user\`.`
      : `A person has to approve the login first: open ${url}, then repeat the call.`;
  return new ToolError('ssh_auth_failed', timedOut ? `${message} The login was still pending.` : message, {
    hint,
  });
}

/** A server's words, on one line and of bearable length. */
function printable(text: string): string {
  return text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_BANNER);
}

/**
 * The connection died while a command was running, so nobody knows how it ended.
 * @param output what had arrived by then
 */
export function lostMidCommand(target: Target, output: Record<string, string> = {}): ToolError {
  const message = `The connection to ${target.device} (${target.address}) was lost mid-command; its outcome is unknown.`;
  return new ToolError('ssh_unreachable', message, {
    hint: 'The command may have ended, or still be running there. Look at the device before repeating it.',
    facts: output,
  });
}
