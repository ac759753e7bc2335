import { randomUUID } from 'node:crypto';

import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';

import { messageOf } from '../core/errors.ts';
import { SCRIPT } from './assets/script.ts';
import { STYLE } from './assets/style.ts';
import { protectiveHeaders } from './headers.ts';
import { cameByHttps, fromOwnPage } from './origin.ts';
import { consolePage, liveParts, signInPage } from './page.ts';
import type { ConsoleParts } from './parts.ts';
import { createSessions, SESSION_SECONDS } from './session.ts';
import { type AuditQuery, createViews } from './view.ts';

type Env = { Bindings: HttpBindings };

const COOKIE = 'console_session';
const LARGEST_FORM = 8 * 1024;
const LONGEST_SEARCH = 200;

/**
 * The operator's page, to be mounted at /console. Who is let in: the cookie that the page hands out for the secret,
 * or the secret itself in a header. What changes something must come from the page: by its origin and, where a
 * cookie is what lets it in, by the token in its forms.
 */
export function createConsole(parts: ConsoleParts): Hono<Env> {
  const app = new Hono<Env>();
  const sessions = createSessions(parts.secret, parts.previousSecret);
  const view = createViews(parts);

  const sessionOf = (c: Context): string | undefined => {
    const cookie = getCookie(c, COOKIE);
    return sessions.valid(cookie) ? cookie : undefined;
  };
  const asks = (c: Context) => c.req.query('token') !== undefined;
  const formTokenOf = (c: Context) => sessions.formToken(sessionOf(c) ?? '');
  const page = async (c: Context, text: Promise<string>, status: 200 | 401 | 403 = 200) =>
    c.html(parts.redact(await text), status);

  /** Hands out a cookie in exchange for the secret. */
  async function signIn(c: Context<Env>, to: string): Promise<Response> {
    setCookie(c, COOKIE, sessions.issue(), {
      path: '/console',
      httpOnly: true,
      sameSite: 'Strict',
      secure: cameByHttps(c.req.raw.headers, parts.publicHost),
      maxAge: SESSION_SECONDS,
    });
    await note(c, 'console: signed in').catch((error: unknown) => {
      parts.log.error('audit record not written', { event: 'console sign-in', reason: messageOf(error) });
    });
    return c.redirect(to, 303);
  }

  async function note(c: Context<Env>, message: string): Promise<void> {
    const ip = await parts.clientAddress(
      c.env.incoming.socket.remoteAddress,
      c.req.header('x-forwarded-for') ?? null,
    );
    const name = c.req.header('user-agent')?.slice(0, 120) ?? 'unknown';
    await parts.record({
      event: 'note',
      time: new Date().toISOString(),
      id: randomUUID(),
      client: { name, ip },
      message,
    });
  }

  function signInAgain(c: Context, why: 'none' | 'wrong' = 'none'): Promise<Response> {
    // A link on another site, the one with ?token= included: the browser holds a Strict cookie back until a page of
    // ours asks. This one asks at once, and then Sec-Fetch-Site is another.
    if (c.req.header('sec-fetch-site') === 'cross-site' && !asks(c)) c.header('refresh', '0; url=/console');
    return page(c, signInPage(why), 401);
  }

  /** The fields of a form that this session's page sent; undefined for any other. */
  async function ownForm(c: Context): Promise<URLSearchParams | undefined> {
    if (!fromOwnPage(c.req.raw.headers, parts.publicHost)) return undefined;
    const form = new URLSearchParams(await c.req.text());
    const session = sessionOf(c);
    // Without a cookie it was the secret that let the request in, and no foreign page can add that.
    const own = session === undefined || sessions.validFormToken(session, form.get('form_token'));
    return own ? form : undefined;
  }

  const refuseForeign = (c: Context) =>
    c.text(
      'Refused: this form was not sent by a page of the console that is open now. Reload the page.',
      403,
    );
  const allowed = (c: Context) =>
    (asks(c) ? false : sessionOf(c) !== undefined) || parts.authenticated(c.req.raw);

  app.use(protectiveHeaders);
  app.use(bodyLimit({ maxSize: LARGEST_FORM, onError: (c) => c.text('The form is too large.', 413) }));

  app.get('/style.css', (c) => asset(c, STYLE, 'text/css'));
  app.get('/app.js', (c) => asset(c, SCRIPT, 'text/javascript'));

  app.get('/', async (c) => {
    if (!allowed(c)) return signInAgain(c, asks(c) ? 'wrong' : 'none');
    if (!asks(c))
      return page(c, consolePage(await view(auditQuery(c), formTokenOf(c)), c.req.query('notice')));
    // The secret must not stay in the address bar, the history or a bookmark.
    const rest = new URL(c.req.url).searchParams;
    rest.delete('token');
    return signIn(c, rest.size === 0 ? '/console' : `/console?${rest.toString()}`);
  });

  app.post('/', async (c) => {
    if (!fromOwnPage(c.req.raw.headers, parts.publicHost)) return refuseForeign(c);
    const token = new URLSearchParams(await c.req.text()).get('token') ?? '';
    // Asked the way every other request is, so that one comparison decides for all.
    const asked = new Request(`http://localhost/?${new URLSearchParams({ token }).toString()}`);
    return parts.authenticated(asked) ? signIn(c, '/console') : signInAgain(c, 'wrong');
  });

  app.get('/live', async (c) => {
    if (!allowed(c)) return c.json({ error: 'unauthorized', message: 'Open the console again.' }, 401);
    const known = new Set((c.req.query('have') ?? '').split(','));
    const changed = (await liveParts(await view(auditQuery(c), formTokenOf(c)))).filter(
      ({ id, hash }) => !known.has(`${id}.${hash}`),
    );
    return c.json({ parts: changed.map((part) => ({ ...part, html: parts.redact(part.html) })) });
  });

  app.post('/jobs/:id/cancel', async (c) => {
    if (!allowed(c)) return signInAgain(c);
    if (!(await ownForm(c))) return refuseForeign(c);
    return c.redirect(`/console?notice=${await stop(c, c.req.param('id'))}#jobs`, 303);
  });

  app.post('/sign-out', async (c) => {
    if (!allowed(c)) return signInAgain(c);
    if (!(await ownForm(c))) return refuseForeign(c);
    deleteCookie(c, COOKIE, { path: '/console' });
    return c.redirect('/console', 303);
  });

  /** Ends a job. It is ended even where that cannot be recorded: a full disk must not keep a command running. */
  async function stop(c: Context<Env>, id: string): Promise<string> {
    const job = parts.jobs.list().find((each) => each.id === id && each.ended_at === null);
    if (!job) return 'ended';
    let recorded = true;
    await note(c, `console: stop of job ${id} on ${job.device}`).catch((error: unknown) => {
      recorded = false;
      parts.log.error('audit record not written', { job: id, reason: messageOf(error) });
    });
    try {
      if (!(await parts.jobs.cancel(id))) return 'ended';
    } catch (error) {
      parts.log.error('job not stopped', { job: id, reason: messageOf(error) });
      return 'failed';
    }
    return recorded ? 'stopped' : 'unrecorded';
  }

  return app;
}

/** The address holds a digest of the content, so that it may be kept for good. */
function asset(c: Context, text: string, type: string): Response {
  return c.body(text, 200, {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'public, max-age=31536000, immutable',
  });
}

function auditQuery(c: Context): AuditQuery {
  const page = Number(c.req.query('page') ?? '1');
  return {
    tool: c.req.query('tool') ?? '',
    state: c.req.query('outcome') ?? '',
    text: (c.req.query('q') ?? '').slice(0, LONGEST_SEARCH),
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  };
}
