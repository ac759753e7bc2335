import { ALLOW, type Decision } from '../../core/decision.ts';
import { ToolError } from '../../core/errors.ts';
import { type AddressKind, classifyAddress, literalAddress } from '../../net/address.ts';
import { headerFault } from './headers.ts';
import type { FetchSettings } from './settings.ts';

/** A call as far as policy looks at it. */
export interface FetchCall {
  url: URL;
  method: string;
  headers?: Record<string, string> | undefined;
  body?: string | undefined;
  json?: unknown;
  offset?: number | undefined;
}

/** Every answer is a value; nothing here touches the network. */
export interface FetchPolicy {
  /** The whole call, before anything is done. */
  call(call: FetchCall): Decision;
  /** Where a hop goes: the call's own URL, and each one that a redirect names. */
  url(url: URL): Decision;
  /** An address that the hostname of an allowed URL resolves to. */
  address(url: URL, address: string): Decision;
}

/** What no name may reach, whoever vouches for it: nothing an operator calls by name lives there. */
const NEVER: readonly AddressKind[] = ['metadata', 'multicast', 'broadcast', 'unspecified', 'invalid'];
const MOST_NAMED = 20;
/** 100 MiB: what lies before an offset is read again and thrown away. */
const FURTHEST = 104_857_600;

/** The entries of a list as a set, made again only when a reload has put another list in its place. */
function hostsOf(read: () => readonly string[]): () => ReadonlySet<string> {
  let list = read();
  let hosts = new Set(list.map(canonicalHost));
  return () => {
    if (read() !== list) {
      list = read();
      hosts = new Set(list.map(canonicalHost));
    }
    return hosts;
  };
}

/**
 * Hostnames are compared whole and exactly, on the WHATWG URL that is fetched; an entry stands for every port of
 * its host. An entry that is an IP literal vouches for that address, `localhost` for loopback, and a name in
 * FETCH_ALLOW_PRIVATE_DOMAINS for private addresses of every kind but those in `NEVER`.
 */
export function createFetchPolicy(
  settings: Pick<FetchSettings, 'allowedDomains' | 'allowPrivateDomains'>,
): FetchPolicy {
  const allowedHosts = hostsOf(() => settings.allowedDomains);
  const privateHosts = hostsOf(() => settings.allowPrivateDomains);

  const url = (target: URL): Decision => {
    const { protocol, hostname } = target;
    const allowed = allowedHosts();
    if (protocol !== 'http:' && protocol !== 'https:') {
      return refuse('scheme', 'invalid_input', `The scheme ${protocol} is not one of http: and https:.`);
    }
    if (target.username !== '' || target.password !== '') {
      return refuse('userinfo', 'invalid_input', `The URL of ${hostname} holds a user name or password.`, {
        hint: 'Leave them out; the operator sets up tokens in FETCH_EXTERNAL_TOKEN_MAP.',
      });
    }
    if (allowed.has(hostname)) return ALLOW;
    const named = [...allowed].slice(0, MOST_NAMED).join(', ');
    const more = allowed.size > MOST_NAMED ? ` and ${allowed.size - MOST_NAMED} more` : '';
    return refuse(
      'PROXY_ALLOWED_DOMAINS',
      'domain_not_allowed',
      `Domain not allowed: ${hostname.slice(0, 255)} is not an entry of PROXY_ALLOWED_DOMAINS.`,
      {
        hint:
          allowed.size === 0
            ? 'The operator has allowed no domain yet.'
            : `Entries are whole hostnames: ${named}${more}. The operator can add one.`,
      },
    );
  };

  return {
    url,

    call({ url: target, method, headers = {}, body, json, offset = 0 }) {
      const isRead = method === 'GET' || method === 'HEAD';
      const fault =
        headerFault(headers) ??
        (body !== undefined && json !== undefined ? 'body and json are two bodies; send one.' : undefined) ??
        (isRead && (body !== undefined || json !== undefined)
          ? `${method} takes no body; set method to POST, PUT, PATCH or DELETE.`
          : undefined) ??
        (offset >= 0 && offset <= FURTHEST ? undefined : `offset must be from 0 to ${FURTHEST}.`) ??
        (offset > 0 && method !== 'GET'
          ? `offset would send the ${method} request again; raise max_bytes instead.`
          : undefined);
      return fault === undefined ? url(target) : refuse('arguments', 'invalid_input', fault);
    },

    address({ hostname }, address) {
      const kind = classifyAddress(address);
      if (kind === 'public') return ALLOW;
      // To come this far the literal itself had to be an entry of the allowlist.
      if (literalAddress(hostname) !== undefined) return ALLOW;
      if (hostname === 'localhost' && kind === 'loopback') return ALLOW;
      if (privateHosts().has(hostname) && !NEVER.includes(kind)) return ALLOW;
      return refuse(
        'address',
        'address_not_allowed',
        `Address not allowed: ${hostname} resolves to ${address}, which is ${kind}.`,
        {
          hint: NEVER.includes(kind)
            ? 'No setting allows a name to reach that address.'
            : 'If that is meant, the operator can name the host in FETCH_ALLOW_PRIVATE_DOMAINS.',
        },
      );
    },
  };
}

/** An entry as a WHATWG URL would write it; a name differs in case alone. */
export function canonicalHost(entry: string): string {
  if (!entry.startsWith('[')) return entry.toLowerCase();
  return URL.canParse(`http://${entry}`) ? new URL(`http://${entry}`).hostname : entry;
}

function refuse(
  rule: string,
  code: 'invalid_input' | 'domain_not_allowed' | 'address_not_allowed',
  message: string,
  details: { hint?: string } = {},
): Decision {
  return { verdict: 'refuse', rule, error: new ToolError(code, message, details) };
}

/** @throws the error of a decision that refuses */
export function enforce(decision: Decision): void {
  if (decision.verdict !== 'refuse') return;
  throw 'error' in decision ? decision.error : new ToolError('internal', decision.rule);
}
