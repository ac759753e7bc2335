import { ToolError } from '../../core/errors.ts';
import type { WebAnswer } from './web.ts';

interface Shown {
  status: number;
  url: string;
  body: string;
}

const MOST_OF_THE_BODY = 500;

/**
 * An answer that says the operator's token is bad or lacks a scope: nothing in the call can mend that, so it is a
 * failure that names the variable. Any other 401 or 403 is the caller's to read, as a normal result.
 */
export function authFailure({ response, url, token }: WebAnswer, shown: Shown): ToolError | undefined {
  if (token === undefined) return undefined;
  const { status, headers } = response;
  const facts = { status, url: shown.url, body: shown.body.slice(0, MOST_OF_THE_BODY) };
  if (status === 401) {
    return new ToolError(
      'auth_failed',
      `Authentication failed: ${url.hostname} answered 401 to the token in ${token.variable}.`,
      { hint: `The operator must put a valid token into ${token.variable}.`, facts },
    );
  }
  if (status !== 403 && status !== 404) return undefined;
  const wanted = missingScope(headers);
  if (wanted === undefined) return undefined;
  return new ToolError(
    'missing_scope',
    `Authentication failed: ${url.hostname} answered ${status}, and the token in ${token.variable} lacks what the call needs: ${wanted}.`,
    { hint: `The operator must give the token in ${token.variable} that scope.`, facts },
  );
}

/** From the headers in which GitHub tells what a token has and what the call accepts. */
function missingScope(headers: WebAnswer['response']['headers']): string | undefined {
  const list = (name: string) =>
    [headers[name]]
      .flat()
      .join(',')
      .split(',')
      .map((scope) => scope.trim())
      .filter((scope) => scope !== '');
  const accepted = list('x-accepted-oauth-scopes');
  const held = list('x-oauth-scopes');
  if ('x-oauth-scopes' in headers && accepted.length > 0 && !accepted.some((scope) => held.includes(scope))) {
    return accepted.slice(0, 10).join(' or ');
  }
  return undefined;
}
