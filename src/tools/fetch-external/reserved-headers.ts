/**
 * Headers that belong to the connection, not to the request: a caller who could set them could talk to another
 * host behind the same address, or smuggle a second request (RFC 9110, section 7.6.1).
 */
const RESERVED = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
]);

/** Whether a header, in any case, is set by the server alone. */
export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return RESERVED.has(lower) || lower.startsWith('proxy-');
}
