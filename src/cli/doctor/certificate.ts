import { isIP } from 'node:net';
import { connect } from 'node:tls';

import { type Finding, fail, ok, warn } from './report.ts';

const NAME = 'TLS certificate';
const DAY_MS = 24 * 60 * 60 * 1000;
const FEW_DAYS = 14;
const ANSWER_MS = 2_000;

/** A certificate as a server shows it. */
export interface Shown {
  /** `host:port` */
  at: string;
  from: number;
  to: number;
  /** Why a client would not trust it; undefined where it would. */
  fault: string | undefined;
}

/**
 * The certificate that clients get, from whatever is in front of the server.
 * @param publicHost the name that it must be for
 * @param doors `host:port`, the first that answers counts
 */
export async function checkCertificate(publicHost: string, doors: readonly string[]): Promise<Finding> {
  for (const door of doors) {
    const shown = await showCertificate(door, publicHost).catch(() => undefined);
    if (shown) return certificateFinding(shown, publicHost, Date.now());
  }
  const silent = `not looked at: nothing speaks TLS at ${doors.join(' and ')}`;
  return publicHost === 'localhost'
    ? ok(NAME, silent)
    : warn(NAME, silent, 'Start Caddy, or look at the certificate from outside.');
}

export function certificateFinding({ at, from, to, fault }: Shown, publicHost: string, now: number): Finding {
  const left = to - now;
  const days = Math.floor(left / DAY_MS);
  const detail = `for ${publicHost} at ${at}: ${days > 0 ? `${days} days left` : `${Math.floor(left / 3_600_000)} h left`}`;
  const renew = `Caddy renews by itself: its log says why it did not. ${publicHost} must lead here, with ports 80 and 443 open.`;
  if (left <= 0)
    return fail(NAME, `for ${publicHost} at ${at}: expired ${new Date(to).toISOString()}`, renew);
  // Caddy's own authority, which only those who were given its root trust.
  if (fault !== undefined && publicHost !== 'localhost') {
    return fail(NAME, `for ${publicHost} at ${at}: clients will not trust it (${fault})`, renew);
  }
  // Short-lived certificates are renewed in their last third, however few days that is.
  const limit = Math.min(FEW_DAYS * DAY_MS, (to - from) / 4);
  return left < limit ? warn(NAME, detail, renew) : ok(NAME, detail);
}

function showCertificate(door: string, publicHost: string): Promise<Shown> {
  const [host = '', port = '443'] = door.split(':');
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port),
      // An address is no server name.
      ...(isIP(publicHost) === 0 && { servername: publicHost }),
      // Looked at rather than used: nothing is sent to it.
      rejectUnauthorized: false,
      timeout: ANSWER_MS,
    });
    socket.on('timeout', () => socket.destroy(new Error('no answer')));
    socket.on('error', reject);
    socket.on('secureConnect', () => {
      const { valid_from: from, valid_to: to } = socket.getPeerCertificate();
      const { authorized, authorizationError } = socket;
      const fault = authorized ? undefined : String(authorizationError);
      resolve({ at: door, from: Date.parse(from), to: Date.parse(to), fault });
      socket.destroy();
    });
  });
}
