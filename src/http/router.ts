import type { HttpBindings } from '@hono/node-server';
import { isJsonContentType } from '@modelcontextprotocol/server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';

import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { jsonRpcError } from '../mcp/answers.ts';
import type { McpEndpoint } from '../mcp/handler.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { createAuthenticator } from './auth.ts';
import { createClientAddress } from './client-address.ts';
import type { Health } from './health.ts';
import type { ServerSettings } from './settings.ts';

export interface RouterParts {
  settings: ServerSettings;
  mcp: McpEndpoint;
  health: Health;
  metrics: Metrics;
  /** The operator's page; absent where it is off. It lets in whom it will. */
  console?: Hono<Env>;
  log: Log;
}

type Env = { Bindings: HttpBindings };

const LARGEST_BODY = 4 * 1024 * 1024;

/**
 * The request's way in: origin → credentials → method → body limit → MCP. Nothing of the body is read before
 * the credentials are right. Every other path is a plain 404 that asks for none, because a client that is
 * challenged on `/.well-known/*` starts an OAuth flow that does not exist here.
 */
export function createRouter({ settings, mcp, health, metrics, console, log }: RouterParts): Hono<Env> {
  const app = new Hono<Env>();
  const authenticated = createAuthenticator(settings.secret, settings.previousSecret);
  const addressOf = createClientAddress(settings.trustedProxies);

  const limitBody = bodyLimit({ maxSize: LARGEST_BODY, onError: tooLarge });

  /** The answer to a request that may not pass: from a foreign page, or without the secret. */
  const refusal = (c: Context<Env>): Response | undefined => {
    if (isForeign(c.req.header('origin'), settings)) return forbidden(c);
    return authenticated(c.req.raw) ? undefined : unauthorized(c);
  };

  if (settings.allowedOrigins.length > 0) {
    const crossOrigin = cors({ origin: [...settings.allowedOrigins] });
    for (const path of ['/mcp', '/health', '/metrics']) {
      // A preflight has no credentials, and is answered before they are asked for.
      app.use(path, async (c, next) =>
        isForeign(c.req.header('origin'), settings) ? forbidden(c) : crossOrigin(c, next),
      );
    }
  }
  for (const path of ['/health', '/metrics']) app.use(path, async (c, next) => refusal(c) ?? next());

  app.get('/health', async (c) =>
    c.json(c.req.query('verbose') === '1' ? await health.verbose() : health.brief()),
  );
  app.all('/health', (c) => methodNotAllowed(c, 'GET'));

  app.get('/metrics', async (c) =>
    c.body(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  );
  app.all('/metrics', (c) => methodNotAllowed(c, 'GET'));

  // One handler and no middleware before it: Hono has a faster way for that, and this is the path of every call.
  app.all('/mcp', async (c) => {
    const refused = refusal(c);
    if (refused) return refused;
    if (c.req.method !== 'POST') return methodNotAllowed(c, 'POST');
    // Node ends a body at its declared length. One that declares none is counted, which takes a stream of its own.
    const declared = c.req.header('transfer-encoding') === undefined && c.req.header('content-length');
    if (declared ? Number(declared) > LARGEST_BODY : await limitBody(c, async () => {})) return tooLarge();
    if (!isJsonContentType(c.req.header('content-type'))) {
      return jsonRpcError(
        415,
        -32000,
        'Unsupported Media Type: Content-Type must be application/json.',
        null,
      );
    }
    let body: unknown;
    try {
      body = JSON.parse(await c.req.text());
    } catch (error) {
      return jsonRpcError(400, -32700, `Parse error: ${messageOf(error)}`, null);
    }
    const ip = await addressOf(c.env.incoming.socket.remoteAddress, c.req.header('x-forwarded-for') ?? null);
    const name = c.req.header('user-agent')?.slice(0, 120) ?? 'unknown';
    return mcp.handle(c.req.raw, body, { name, ip }, c.env.incoming.socket.destroyed);
  });

  if (console) app.route('/console', console);

  app.notFound((c) => c.json({ error: 'not_found', message: 'There is nothing here.' }, 404));
  app.onError((error, c) => {
    log.error('request failed', { path: c.req.path, reason: messageOf(error), stack: error.stack });
    return jsonRpcError(500, -32603, 'Internal error; the server’s log has the details.', null);
  });
  return app;
}

/** A page of a foreign site must not call the server with a visitor's browser (DNS rebinding included). */
function isForeign(origin: string | undefined, { publicHost, allowedOrigins }: ServerSettings): boolean {
  return origin !== undefined && !allowedOrigins.includes(origin) && !isOwn(origin, publicHost);
}

function forbidden(c: Context): Response {
  return c.json(
    {
      error: 'forbidden',
      message: 'This Origin may not call the server; the operator can name it in ALLOWED_ORIGINS.',
    },
    403,
  );
}

/** No WWW-Authenticate: it would send clients looking for an authorization server. */
function unauthorized(c: Context): Response {
  return c.json(
    {
      error: 'unauthorized',
      message:
        'Send the shared secret as ?token=, as "Authorization: Bearer" or as x-api-key; exactly one of them, and exactly MCP_SECRET.',
    },
    401,
  );
}

/**
 * The public host's own origin, whatever port Caddy publishes. Only in the one form that browsers send: a URL parser
 * would see this host in `https://evil.example@host` and in `https:host` too.
 */
function isOwn(origin: string, publicHost: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { origin: serialized, protocol, hostname } = new URL(origin);
  return origin === serialized && protocol === 'https:' && hostname === publicHost.toLowerCase();
}

function methodNotAllowed(c: Context, allow: string): Response {
  return c.json({ error: 'method_not_allowed', message: `Only ${allow} is served here.` }, 405, {
    Allow: allow,
  });
}

function tooLarge(): Response {
  return jsonRpcError(413, -32000, `The body is larger than ${LARGEST_BODY} bytes.`, null);
}
