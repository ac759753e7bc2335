import { ToolError } from '../../core/errors.ts';
import type { MainDocument } from './page.ts';

const NETWORK: Record<string, string> = {
  ERR_NAME_NOT_RESOLVED: 'its name does not resolve',
  ERR_CONNECTION_REFUSED: 'nothing listens there',
  ERR_CONNECTION_RESET: 'it closed the connection',
  ERR_CONNECTION_CLOSED: 'it closed the connection',
  ERR_EMPTY_RESPONSE: 'it closed the connection without an answer',
  ERR_CONNECTION_TIMED_OUT: 'it did not answer in time',
  ERR_TIMED_OUT: 'it did not answer in time',
  ERR_TOO_MANY_REDIRECTS: 'it redirects without end',
  ERR_UNSAFE_PORT: 'browsers refuse this port',
  ERR_TUNNEL_CONNECTION_FAILED: 'the browser’s proxy could not or would not reach it',
  ERR_PROXY_CONNECTION_FAILED: 'the browser’s proxy (the egress service) is not running',
};

const PROXY: Record<string, string> = {
  ERR_DNS_FAIL: 'its name does not resolve',
  ERR_CONNECT_FAIL: 'it does not accept the connection',
  ERR_READ_ERROR: 'it broke the connection off',
  ERR_READ_TIMEOUT: 'it did not answer in time',
  ERR_ZERO_SIZE_OBJECT: 'it closed the connection without an answer',
};

/** A refusal because of where the URL leads. `how` completes "… is not allowed: ". */
export function addressNotAllowed(url: string, how: string): ToolError {
  return new ToolError('address_not_allowed', `${shown(url)} is not allowed: ${how}.`, {
    hint: 'Pages on private, loopback and mesh addresses open only when the operator names their host in BROWSER_ALLOWED_PRIVATE_HOSTS.',
  });
}

/** The failure of the page's last navigation, undefined where it has none: an error page is not a page. */
export function documentFailure({ url, proxyError, netError }: MainDocument): ToolError | undefined {
  if (proxyError !== undefined) {
    const [name = ''] = proxyError.split(' ');
    if (name === 'ERR_ACCESS_DENIED') {
      return addressNotAllowed(url, 'the browser’s proxy refused its address or port');
    }
    return unreachable(url, PROXY[name] ?? 'the browser’s proxy could not fetch it', name);
  }
  return netError === undefined ? undefined : networkFailure(url, netError);
}

/** @param error as Chromium names it, `net::ERR_…` */
export function networkFailure(url: string, error: string): ToolError {
  const name = error.replace('net::', '');
  if (name.startsWith('ERR_CERT_') || name.startsWith('ERR_SSL_')) {
    return unreachable(url, 'its certificate or TLS is not acceptable', name);
  }
  return unreachable(url, NETWORK[name] ?? 'the browser could not open it', name);
}

function unreachable(url: string, why: string, name: string): ToolError {
  return new ToolError('upstream_error', `${shown(url)} could not be opened: ${why} (${name}).`);
}

/**
 * What the command-line tool said went wrong.
 * @param quoted texts of the caller's that it may have repeated, which say nothing of the reason
 */
export function stepFailure(
  action: string,
  error: string,
  url: string,
  quoted: readonly (string | undefined)[] = [],
): ToolError {
  const reason = quoted.reduce<string>((rest, text) => (text ? rest.replaceAll(text, '') : rest), error);
  const failed = /net::ERR_\w+/.exec(error);
  if (failed) return networkFailure(url, failed[0]);
  const message = `${action} failed: ${error.slice(0, 500)}`;
  if (
    /not found|unknown ref|did not match any element|no option matched|not visible|no longer/i.test(reason)
  ) {
    return new ToolError('not_found', message, { hint: 'Take a new snapshot and use a ref from it.' });
  }
  if (/timed out|timeout/i.test(reason)) {
    return new ToolError('timeout', message, {
      hint: 'The page is still open: snapshot shows what is there.',
    });
  }
  if (/selector|syntaxerror|unsupported|unknown key|invalid/i.test(reason)) {
    return new ToolError('invalid_input', message);
  }
  return new ToolError('upstream_error', message);
}

export function pageCrashed(session: string, what: string): ToolError {
  return new ToolError('page_crashed', `The page of session "${session}" is gone: ${what}.`, {
    hint: 'Open the address again.',
  });
}

function shown(url: string): string {
  return url.length > 200 ? `${url.slice(0, 200)}…` : url;
}
