import { ToolError } from '../../core/errors.ts';
import { literalAddress, classifyAddress } from '../../net/address.ts';
import { canonicalHost } from './policy.ts';
import type { FetchSettings } from './settings.ts';

/** A token as it is sent to its domain. */
export interface Token {
  /** Name of the variable that holds it; what messages name. */
  variable: string;
  value: string;
  /** Lower case. */
  header: string;
  headerValue: string;
}

export type Tokens = ReadonlyMap<string, Token>;

/**
 * The tokens of FETCH_EXTERNAL_TOKEN_MAP by domain.
 * @param secrets values by the name of the variable; only those that the map names are kept
 * @throws ToolError `invalid_input` when a value cannot stand in a header
 */
export function tokensOf(
  map: FetchSettings['tokenMap'],
  secrets: ReadonlyMap<string, string>,
): Map<string, Token> {
  const tokens = new Map<string, Token>();
  for (const [domain, entry] of Object.entries(map)) {
    const { env, header = 'authorization', scheme } = typeof entry === 'string' ? { env: entry } : entry;
    const value = secrets.get(env) ?? '';
    if (!/^[\x20-\x7e]+$/.test(value)) {
      throw new ToolError(
        'invalid_input',
        `FETCH_EXTERNAL_TOKEN_MAP: the value of ${env} is empty or holds a character that no header can carry.`,
      );
    }
    const name = header.toLowerCase();
    const prefix = scheme ?? (name === 'authorization' ? 'Bearer' : '');
    // A colon never stands in base64: this is user:password, still to be encoded.
    const isRawPair = prefix.toLowerCase() === 'basic' && value.includes(':');
    const credential = isRawPair ? Buffer.from(value).toString('base64') : value;
    const headerValue = prefix === '' ? credential : `${prefix} ${credential}`;
    tokens.set(canonicalHost(domain), { variable: env, value, header: name, headerValue });
  }
  return tokens;
}

/** The token that goes to this URL: its own domain's, over HTTPS, or over HTTP to this machine by its address. */
export function tokenFor({ protocol, hostname }: URL, tokens: Tokens): Token | undefined {
  const literal = literalAddress(hostname);
  const isLoopback = literal !== undefined && classifyAddress(literal) === 'loopback';
  return protocol === 'https:' || isLoopback ? tokens.get(hostname) : undefined;
}
