import * as z from 'zod';

import { ToolError } from '../core/errors.ts';
import { stripInvisible } from '../core/visible-text.ts';
import type { HttpAnswer } from './http.ts';

/** The scope of a classic token that a call needs. */
export type Scope = 'gist' | 'repo';

const errorBody = z.looseObject({
  message: z.string().catch(''),
  errors: z
    .array(
      z.union([
        z.string(),
        z.looseObject({
          message: z.string().optional(),
          resource: z.string().optional(),
          field: z.string().optional(),
          code: z.string().optional(),
        }),
      ]),
    )
    .catch([]),
});

/** The API's own words for a failure, in one line without `token`; '' where it gives none. */
export function wordsOf({ body }: HttpAnswer, token: string): string {
  let parsed: z.output<typeof errorBody>;
  try {
    parsed = errorBody.parse(JSON.parse(body.toString('utf8')));
  } catch {
    return '';
  }
  const details = parsed.errors.map((error) => {
    if (typeof error === 'string') return error;
    if (error.message !== undefined) return error.message;
    return [error.resource, error.field, error.code].filter((part) => part !== undefined).join(' ');
  });
  return stripInvisible([parsed.message, ...details].filter((part) => part !== '').join(': '))
    .replaceAll(token, '…')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 500);
}

/** The scopes of a classic token; undefined for other tokens, whose rights no header tells. */
export function scopesOf({ headers }: Pick<HttpAnswer, 'headers'>): string[] | undefined {
  return headers
    .get('x-oauth-scopes')
    ?.split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '');
}

/**
 * `missing_scope` when the answer shows a classic token without `scope`. The code host hides what a token may not
 * see: a write to a gist without the scope is 404 there, a listing leaves the secret ones out.
 */
export function lackOfScope(host: string, answer: HttpAnswer, scope: Scope): ToolError | undefined {
  const scopes = scopesOf(answer);
  const accepted = (answer.headers.get('x-accepted-oauth-scopes') ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (scopes === undefined || [scope, ...accepted].some((good) => scopes.includes(good))) return undefined;
  const has = scopes.length === 0 ? 'none' : scopes.join(', ');
  return new ToolError(
    'missing_scope',
    `Authentication failed: CODE_HOST_TOKEN lacks the scope "${scope}" at ${host} (it has: ${has}).`,
    { hint: `Give the token the scope "${scope}", or make a new one with it, and restart the server.` },
  );
}

/** The error of an answer that is no success and no rate limit. @param said the API's words, see `wordsOf` */
export function statusError(host: string, answer: HttpAnswer, said: string, scope?: Scope): ToolError {
  const { status, headers } = answer;
  const sentence = `${host} answered ${status}${said && ` (${said})`}.`;
  const lacking = scope && lackOfScope(host, answer, scope);
  switch (status) {
    case 401:
      return new ToolError('auth_failed', `Authentication failed: ${sentence}`, {
        hint: 'CODE_HOST_TOKEN is mistyped, expired or revoked; set a valid one and restart the server.',
      });
    case 403:
      return forbidden(sentence, headers) ?? lacking ?? refused(sentence);
    case 404:
    case 410:
      return lacking ?? new ToolError('not_found', sentence);
    case 409:
      return new ToolError('conflict', sentence, { hint: 'Read it again, then repeat the change.' });
    case 422:
      if (lacking && said.includes('cannot be searched')) return lacking;
      return new ToolError('invalid_input', sentence);
    case 429:
      return new ToolError('rate_limited', sentence, { hint: 'Wait a minute.', retryAfterSeconds: 60 });
    default:
      if (status >= 300 && status < 400 && status !== 304) return redirected(host, answer);
      return new ToolError('upstream_error', sentence, {
        ...(status >= 500 && { hint: 'The fault is on the side of the code host; try again later.' }),
      });
  }
}

function forbidden(sentence: string, headers: HttpAnswer['headers']): ToolError | undefined {
  if (headers.get('x-github-sso') !== null) {
    return new ToolError('auth_failed', `Authentication failed: ${sentence}`, {
      hint: 'The organisation wants single sign-on: authorise the token for it in the code host’s token settings.',
    });
  }
  if (!/Resource not accessible/i.test(sentence)) return undefined;
  const wanted = headers.get('x-accepted-github-permissions');
  return new ToolError('missing_scope', `Authentication failed: ${sentence}`, {
    hint:
      `Give the fine-grained token the permission ${wanted ? `"${stripInvisible(wanted).slice(0, 100)}"` : 'that this call needs'} ` +
      '(snippet_kb: Gists, read and write; code_search: Contents, read).',
  });
}

function refused(sentence: string): ToolError {
  return new ToolError('auth_failed', `Authentication failed: ${sentence}`, {
    hint: 'The token is known but may not do this; its owner or the organisation decides what it may.',
  });
}

function redirected(host: string, { status, headers }: HttpAnswer): ToolError {
  const location = headers.get('location') ?? '';
  const to = URL.canParse(location) ? new URL(location).host : 'another path';
  return new ToolError(
    'upstream_error',
    `${host} answered ${status}, a redirect to ${to}, which is not followed: the token would go along.`,
    { hint: 'Set CODE_HOST_API_URL to the address that answers the API itself.' },
  );
}
