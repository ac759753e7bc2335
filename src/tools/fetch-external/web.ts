import { ToolError } from '../../core/errors.ts';
import type { Egress, EgressResponse } from '../../net/egress.ts';
import { connectionFailure } from './failures.ts';
import { forOtherOrigin, hopHeaders, withoutBody } from './headers.ts';
import { type FetchPolicy, enforce } from './policy.ts';
import type { Redaction } from './redaction.ts';
import { type Token, type Tokens, tokenFor } from './tokens.ts';

export interface WebRequest {
  url: URL;
  method: string;
  /** The caller's, lower case. */
  headers: Record<string, string>;
  body: string | undefined;
}

export interface WebAnswer {
  response: EgressResponse;
  /** What was fetched in the end, and how. */
  url: URL;
  method: string;
  /** URLs that redirected, in order. */
  redirects: URL[];
  /** The token that went to `url`. */
  token: Token | undefined;
  /** A token went to one of the hops. */
  tokenInjected: boolean;
}

export interface WebParts {
  egress: Egress;
  policy: FetchPolicy;
  tokens: Tokens;
  redaction: Redaction;
}

const MOST_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** A redirect's body is read this far so that its connection can be used again. */
const DUMPED = { bytes: 16_384, ms: 1_000 };

/**
 * Sends a request and follows redirects by hand: each hop is judged afresh, and its headers are built for it.
 * @throws ToolError of the policy, or `connection_refused`, `timeout`, `upstream_error`
 */
export async function fetchWeb(first: WebRequest, parts: WebParts, signal: AbortSignal): Promise<WebAnswer> {
  let hop = first;
  let tokenInjected = false;
  const redirects: URL[] = [];
  for (;;) {
    const { url, method, body } = hop;
    enforce(parts.policy.url(url));
    const token = tokenFor(url, parts.tokens);
    const headers = hopHeaders(hop.headers, token);
    const response = await parts.egress
      .send({ url, method, headers, body, signal })
      .catch((error: unknown) => {
        signal.throwIfAborted();
        throw connectionFailure(url, method, error);
      });
    tokenInjected ||= token !== undefined;
    const target = redirectTarget(response, url);
    if (target === undefined) return { response, url, method, redirects, token, tokenInjected };

    response.body.on('error', () => {});
    response.body.dump({ limit: DUMPED.bytes, signal: AbortSignal.timeout(DUMPED.ms) }).catch(() => {});
    redirects.push(url);
    if (redirects.length > MOST_REDIRECTS) {
      const chain = [...redirects, target].map(({ origin, pathname }) => origin + pathname).join(' → ');
      throw new ToolError('upstream_error', `More than ${MOST_REDIRECTS} redirects: ${chain.slice(0, 1000)}`);
    }
    // The host may send what it was given along to the next one, which may be allowed but is not its owner.
    if (target.origin !== url.origin && parts.redaction.string(target.href) !== target.href) {
      throw new ToolError(
        'upstream_error',
        `${url.hostname} redirects to ${target.hostname} with a token in the URL, which is not followed.`,
      );
    }
    hop = nextHop(hop, response.status, target);
  }
}

function redirectTarget({ status, headers }: EgressResponse, url: URL): URL | undefined {
  const { location } = headers;
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  const reference = Array.isArray(location) ? (location[0] ?? '') : location;
  if (!URL.canParse(reference, url.href)) {
    throw new ToolError('upstream_error', `${url.hostname} redirects to something that is not a URL.`);
  }
  return new URL(reference, url);
}

/** What browsers do (Fetch Standard, HTTP-redirect fetch), but for headers, where they pass on too much. */
function nextHop(hop: WebRequest, status: number, url: URL): WebRequest {
  const becomesGet =
    (status === 303 && hop.method !== 'HEAD') ||
    ((status === 301 || status === 302) && hop.method === 'POST');
  const kept = url.origin === hop.url.origin ? hop.headers : forOtherOrigin(hop.headers);
  return becomesGet
    ? { url, method: 'GET', headers: withoutBody(kept), body: undefined }
    : { url, method: hop.method, headers: kept, body: hop.body };
}
