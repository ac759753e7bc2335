import { createHash } from 'node:crypto';
import { type Context, Hono, type MiddlewareHandler } from 'hono';

import { type StandinGist, openGists } from './code-host-gists.ts';
import { addGistRoutes } from './code-host-gist-routes.ts';
import { type Allowances, createAllowances } from './code-host-limits.ts';
import { type StandinRepository, addSearchRoutes } from './code-host-search.ts';
import type { Control, StandinEnv } from './control.ts';

export interface StandinToken {
  login: string;
  /** Scopes of a classic token; a fine-grained one has `permissions` instead. */
  scopes?: readonly string[];
  permissions?: readonly ('gists:write' | 'contents:read')[];
}

export interface CodeHostStandinOptions {
  tokens: Readonly<Record<string, StandinToken>>;
  gists?: readonly StandinGist[];
  /** Keeps the gists in this file; `gists` is what a new file begins with. */
  file?: string;
  repositories?: readonly StandinRepository[];
  /** Requests an hour (core), searches a minute; and the points a minute beyond which the secondary limit holds. */
  limits?: Partial<Allowances>;
  /** Where `raw_url` points; this stand-in itself otherwise. */
  rawOrigin?: string;
  /** The wall clock, in milliseconds. */
  now?: () => number;
}

export interface CodeHostEnv extends StandinEnv {
  Variables: { token: StandinToken | undefined };
}

/** What the route files share. */
export interface CodeHostParts {
  app: Hono<CodeHostEnv>;
  options: CodeHostStandinOptions;
  now: () => number;
}

/**
 * GitHub's REST API as far as search and gists go. `code_host` is its name for `control`, which sees neither
 * tokens nor bodies. Serve it at a root or mount it under a path: addresses in answers follow the request's own.
 */
export function createCodeHostStandin(options: CodeHostStandinOptions, control: Control): Hono<StandinEnv> {
  const { now = Date.now } = options;
  const app = new Hono<CodeHostEnv>();
  const parts: CodeHostParts = { app, options, now };
  const allowances = createAllowances(options.limits ?? {}, now);

  app.use('*', control.middleware('code_host', apiError) as unknown as MiddlewareHandler<CodeHostEnv>);
  app.use('*', async (c, next) => {
    const path = ownPath(c);
    // The addresses of raw files ask for no token, and cost nothing.
    if (path.startsWith('/raw/')) return next();
    const sent = /^(?:Bearer|token) (.+)$/.exec(c.req.header('authorization') ?? '')?.[1];
    const token = sent === undefined ? undefined : options.tokens[sent];
    if (sent === undefined) return apiError(401, 'Requires authentication');
    if (!token) return apiError(401, 'Bad credentials');
    c.set('token', token);

    const refusal = allowances.take(path, c.req.method);
    const response = refusal ?? (await answer(c, next));
    const headers = new Headers(response.headers);
    for (const [name, value] of allowances.headers(path, response.status)) headers.set(name, value);
    headers.set('date', new Date(now()).toUTCString());
    if (token.scopes) {
      const write = path.startsWith('/gists') && c.req.method !== 'GET';
      headers.set('x-oauth-scopes', token.scopes.join(', '));
      headers.set('x-accepted-oauth-scopes', write ? 'gist' : '');
    }
    const body = response.status === 304 || response.status === 204 ? null : response.body;
    // Unset first: hono would mix the headers of both.
    c.res = undefined;
    c.res = new Response(body, { status: response.status, headers });
    return undefined;
  });

  app.get('/user', (c) => c.json({ login: c.get('token')?.login, type: 'User' }));
  app.get('/rate_limit', (c) => c.json(allowances.report()));
  addSearchRoutes(parts);
  addGistRoutes(parts, openGists(options.gists ?? [], options.file));
  app.notFound(() => apiError(404));
  return app as unknown as Hono<StandinEnv>;
}

/** Runs the route, and turns its answer into 304 where the client has it already. */
async function answer(c: Context<CodeHostEnv>, next: () => Promise<void>): Promise<Response> {
  await next();
  const { res } = c;
  if (c.req.method !== 'GET' || res.status !== 200) return res;
  const body = await res.text();
  const etag = `W/"${createHash('sha256').update(body).digest('hex')}"`;
  const headers = new Headers(res.headers);
  headers.set('etag', etag);
  if (c.req.header('if-none-match') !== etag) return new Response(body, { headers });
  headers.delete('link');
  return new Response(null, { status: 304, headers });
}

/** The path under wherever the stand-in is mounted. */
export function ownPath(c: Context): string {
  return c.req.path.replace(/^\/code-host(?=\/)/, '').replace(/^\/api\/v3(?=\/)/, '');
}

/** Address of the stand-in itself, as this request reached it. */
export function baseUrl(c: Context): string {
  const url = new URL(c.req.url);
  return `${url.origin}${url.pathname.slice(0, url.pathname.length - ownPath(c).length)}`;
}

const MESSAGES: Record<number, string> = {
  401: 'Bad credentials',
  403: 'Resource not accessible by personal access token',
  404: 'Not Found',
  422: 'Validation Failed',
};

export function apiError(
  status: number,
  message = MESSAGES[status] ?? 'Server Error',
  errors?: unknown[],
  headers: Record<string, string> = {},
): Response {
  return Response.json(
    {
      message,
      ...(errors && { errors }),
      documentation_url: 'https://docs.github.com/rest',
      status: String(status),
    },
    { status, headers },
  );
}
