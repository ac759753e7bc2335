import { SERVER_NAME, VERSION } from '../../core/version.ts';
import { ACCEPT_ENCODING } from './encodings.ts';
import { isReservedHeader } from './reserved-headers.ts';
import type { Token } from './tokens.ts';

const MOST_HEADERS = 64;
const MOST_CHARACTERS = 16_384;

/** What is wrong with a caller's headers, in a sentence without their values, which may be secret. */
export function headerFault(headers: Readonly<Record<string, string>>): string | undefined {
  const entries = Object.entries(headers);
  if (entries.length > MOST_HEADERS) return `There are more than ${MOST_HEADERS} headers.`;
  const size = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (size > MOST_CHARACTERS) return `The headers have more than ${MOST_CHARACTERS} characters.`;
  const names = new Set<string>();
  for (const [name, value] of entries) {
    const shown = JSON.stringify(name.slice(0, 64));
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) return `${shown} is not the name of a header.`;
    if (isReservedHeader(name)) return `The header ${shown} is set by the server.`;
    // A line break would end the header and begin one of the caller's making.
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      return `The value of the header ${shown} holds a character that no header can carry.`;
    }
    if (names.has(name.toLowerCase())) return `The header ${shown} is given twice.`;
    names.add(name.toLowerCase());
  }
  return undefined;
}

/** What a request says about itself; a hop to another origin gets these of the caller's headers and no others. */
const HARMLESS = new Set(['accept', 'accept-language', 'cache-control', 'content-type', 'user-agent']);

/** The caller's headers in lower case, with the defaults of a request with that body. */
export function ownHeaders(
  headers: Readonly<Record<string, string>>,
  body: 'none' | 'text' | 'json',
): Record<string, string> {
  return {
    accept: '*/*',
    'user-agent': `${SERVER_NAME}/${VERSION}`,
    ...(body === 'json' && { 'content-type': 'application/json' }),
    ...(body === 'text' && { 'content-type': 'text/plain; charset=utf-8' }),
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  };
}

/** Without what may be a secret of the first origin: authorization, cookies, x-api-key, private-token and the like. */
export function forOtherOrigin(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.has(name)));
}

/** Without what describes a body, for a redirect that drops it. */
export function withoutBody(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('content-')));
}

/** The headers of one hop; the operator's token wins over a header of the same name. */
export function hopHeaders(own: Record<string, string>, token: Token | undefined): Record<string, string> {
  return {
    ...own,
    'accept-encoding': ACCEPT_ENCODING,
    ...(token && { [token.header]: token.headerValue }),
  };
}
