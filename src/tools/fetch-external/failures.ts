import { ToolError, systemCodeOf } from '../../core/errors.ts';

const TLS_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  CERT_REVOKED: 'its certificate was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate comes from an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an unknown authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  EPROTO: 'it does not speak TLS as this server does',
};
const CLOSED = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'UND_ERR_SOCKET',
  'ERR_STREAM_PREMATURE_CLOSE',
]);
const UNRESOLVED = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME']);
const LATE = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);
const UNREACHABLE = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL']);

/**
 * What went wrong on the way to a host, from the error's code alone: its message may hold headers, and so a token.
 * @param method of the request; for one that changes something it is not known whether it did
 */
export function connectionFailure(url: URL, method: string, error: unknown): ToolError {
  if (error instanceof ToolError) return error;
  const code = systemCodeOf(error) ?? 'no reason given';
  const at = `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
  const repeat =
    method === 'GET' || method === 'HEAD'
      ? 'Try again.'
      : 'It is not known whether the request took effect: look before you repeat it.';
  const fail = (message: string, hint?: string) =>
    new ToolError('upstream_error', message, { ...(hint !== undefined && { hint }), cause: error });

  if (code === 'ECONNREFUSED') {
    return new ToolError('connection_refused', `Connection refused: nothing listens at ${at}.`, {
      hint: 'Check the port, and that the service is running.',
      cause: error,
    });
  }
  if (UNRESOLVED.has(code))
    return fail(`The name ${url.hostname} does not resolve (${code}).`, 'Check its spelling.');
  if (LATE.has(code)) {
    return new ToolError('timeout', `${at} did not accept a connection in time.`, { cause: error });
  }
  if (UNREACHABLE.has(code)) return fail(`${at} cannot be reached from this server (${code}).`);
  if (code === 'UNVETTED_ADDRESS') return fail(`${at} was reached at an address that was not vetted.`);
  const tls = TLS_FAULTS[code] ?? (code.startsWith('ERR_SSL_') ? TLS_FAULTS['EPROTO'] : undefined);
  if (tls !== undefined) {
    return fail(
      `TLS with ${at} failed: ${tls} (${code}).`,
      'For an authority of the operator’s own, set NODE_EXTRA_CA_CERTS on the server.',
    );
  }
  if (CLOSED.has(code)) return fail(`${at} closed the connection before its answer was complete.`, repeat);
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return fail(`${at} sent a body of another length than its Content-Length.`, repeat);
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return fail(`${at} answered with headers of more than 16 KiB.`);
  // The parser's error has a code for some faults only.
  const isParser = error instanceof Error && error.name === 'HTTPParserError';
  if (isParser || code.startsWith('HPE_') || code === 'UND_ERR_NOT_SUPPORTED') {
    return fail(`${at} answered with something other than HTTP (${code}).`, 'Check the scheme and the port.');
  }
  if (code.startsWith('Z_') || code.startsWith('ERR_') || code.startsWith('ZSTD_')) {
    return fail(`${at} sent a body that cannot be decompressed (${code}).`);
  }
  return fail(`The call to ${at} failed (${code}).`, repeat);
}
