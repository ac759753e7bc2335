import { setTimeout as wait } from 'node:timers/promises';
import type * as z from 'zod';

import { ToolError } from '../core/errors.ts';
import { SERVER_NAME, VERSION } from '../core/version.ts';
import { type Scope, lackOfScope, statusError, wordsOf } from './failure.ts';
import { type Http, type HttpAnswer, type HttpRequest, createHttp } from './http.ts';
import { type Allowance, type RateLimit, createRateLimits } from './limits.ts';
import { readRaw } from './raw.ts';
import type { CodeHostSettings } from './settings.ts';

export interface ApiRequest {
  method?: HttpRequest['method'];
  /** Path under the base address, beginning with a slash; values in it are percent-encoded. */
  path: string;
  query?: Record<string, string | number>;
  /** Sent as JSON. */
  body?: unknown;
  /** Media type asked for, where it is not the usual one. */
  accept?: string;
  /** ETag of the answer the caller has. */
  etag?: string | undefined;
  allowance?: Allowance;
  /** Without this scope a classic token gets `missing_scope`. */
  scope?: Scope;
  maxBytes?: number;
  signal: AbortSignal;
}

export interface ApiAnswer<T> {
  /** Undefined when the answer for the given ETag is still current (304, which costs nothing of the limit). */
  data: T | undefined;
  etag: string | undefined;
  /** Number of the last page, where there are more pages than this one. */
  lastPage: number | undefined;
  rateLimit: RateLimit | null;
  /** The token's scopes as the answer's header has them; null where it has none. */
  scopes: string | null;
}

/** The code host's REST API, as GitHub and GitHub Enterprise Server speak it. */
export interface CodeHost {
  /** Its host name, for messages. */
  readonly host: string;
  /**
   * One request; a GET is repeated once after a passing fault.
   * @throws ToolError `auth_failed`, `missing_scope`, `not_found`, `rate_limited`, `invalid_input`, `conflict`,
   *   `timeout`, `too_large`, `connection_refused` or `upstream_error`; none holds the token
   */
  request<T>(request: ApiRequest, answer: z.ZodType<T>): Promise<ApiAnswer<T>>;
  /** The whole of a file at the `raw_url` that an answer gave, at most `maxBytes`. @throws ToolError as `request` */
  raw(url: string, options: { maxBytes: number; signal: AbortSignal }): Promise<Buffer>;
  /** Requests left of an allowance when the API last told; undefined before it has. */
  remaining(allowance: Allowance): number | undefined;
  close(): Promise<void>;
}

export interface CodeHostOptions {
  /** The longest one request may take. */
  timeoutMs?: number;
  /** Pause before a GET is repeated. */
  retryMs?: number;
  /** The wall clock, in milliseconds. */
  now?: () => number;
}

export const GRAPHQL_PATH = '/graphql';
const API_VERSION = '2022-11-28';
/** A gist of several large files is the largest answer worth having. */
const MOST_BYTES = 32 * 1024 * 1024;
const PASSING_STATUSES = new Set([500, 502, 503, 504]);

export function createCodeHost(settings: CodeHostSettings, options: CodeHostOptions = {}): CodeHost {
  const { timeoutMs = 12_000, retryMs = 250, now = Date.now } = options;
  const base = new URL(settings.apiUrl);
  const { host } = base;
  const limits = createRateLimits(host, now);
  const http = createHttp();

  async function send(request: ApiRequest): Promise<HttpAnswer> {
    const { method = 'GET', body, etag, signal } = request;
    const prepared: HttpRequest = {
      method,
      url: endpoint(base, request),
      headers: {
        authorization: `Bearer ${checkedToken(settings.token)}`,
        accept: request.accept ?? 'application/vnd.github+json',
        'x-github-api-version': API_VERSION,
        'user-agent': `${SERVER_NAME}/${VERSION}`,
        ...(etag !== undefined && { 'if-none-match': etag }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      maxBytes: request.maxBytes ?? MOST_BYTES,
      timeoutMs,
      signal,
    };
    return method === 'GET' ? sendTwice(http, prepared, retryMs) : http.send(prepared);
  }

  return {
    host,

    async request(request, schema) {
      const { allowance = 'core', scope } = request;
      limits.check(allowance);
      const answer = await send(request);
      const { status, headers } = answer;
      const rateLimit = limits.note(allowance, headers);
      const ok = (status >= 200 && status < 300) || (status === 304 && request.etag !== undefined);
      if (!ok) {
        const said = wordsOf(answer, settings.token);
        throw (
          limits.refusal(allowance, status, headers, said && ` (${said})`) ??
          statusError(host, answer, said, scope)
        );
      }
      // A listing without the scope succeeds and is silently incomplete.
      const lacking = scope === 'gist' ? lackOfScope(host, answer, scope) : undefined;
      if (lacking) throw lacking;
      return {
        data: status === 304 ? undefined : parse(host, answer, schema),
        etag: headers.get('etag') ?? undefined,
        lastPage: lastPage(headers.get('link')),
        rateLimit,
        scopes: headers.get('x-oauth-scopes'),
      };
    },

    remaining: (allowance) => limits.remaining(allowance),

    raw: (url, { maxBytes, signal }) =>
      readRaw(url, base, settings.token, (target, headers) =>
        sendTwice(http, { method: 'GET', url: target, headers, maxBytes, timeoutMs, signal }, retryMs),
      ),

    close: () => http.close(),
  };
}

/** Sends a GET, and once more when the first was lost or the host had a passing fault. */
async function sendTwice(http: Http, request: HttpRequest, retryMs: number): Promise<HttpAnswer> {
  try {
    const answer = await http.send(request);
    if (!PASSING_STATUSES.has(answer.status)) return answer;
  } catch (error) {
    // After a timeout a second wait as long would only double the caller's.
    if (!(error instanceof ToolError) || error.code !== 'upstream_error') throw error;
  }
  await wait(retryMs, undefined, { signal: request.signal }).catch(() => request.signal.throwIfAborted());
  return http.send(request);
}

function endpoint(base: URL, { path, query = {} }: ApiRequest): URL {
  const url = new URL(base);
  const root = url.pathname.replace(/\/+$/, '');
  // An enterprise server has the one API at /api/v3 and the other beside it, at /api/graphql.
  url.pathname = (path === GRAPHQL_PATH ? root.replace(/\/v3$/, '') : root) + path;
  url.search = '';
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  return url;
}

function checkedToken(token: string): string {
  // Checked here because fetch would put the header's value, and so the token, into its message.
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new ToolError(
    'auth_failed',
    'Authentication failed: CODE_HOST_TOKEN holds a space, a line break or another character that no token has.',
    { hint: 'Set CODE_HOST_TOKEN without quotes and blanks, and restart the server.' },
  );
}

function parse<T>(host: string, { status, body }: HttpAnswer, schema: z.ZodType<T>): T {
  let json: unknown;
  try {
    // No content: the answer to a deletion, and to nothing else.
    json = status === 204 ? null : JSON.parse(body.toString('utf8'));
  } catch {
    throw new ToolError('upstream_error', `${host} answered with something other than JSON.`, {
      hint: 'CODE_HOST_API_URL may point at a web page or a login portal instead of the API.',
    });
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join('.') || 'the top level';
  throw new ToolError('upstream_error', `${host} answered JSON of an unexpected shape (at ${where}).`, {
    hint: 'CODE_HOST_API_URL must be a GitHub REST API; an enterprise server’s ends in /api/v3.',
  });
}

function lastPage(link: string | null): number | undefined {
  const page = /<[^>]*[?&]page=(\d+)[^>]*>;\s*rel="last"/.exec(link ?? '')?.[1];
  return page === undefined ? undefined : Number(page);
}
