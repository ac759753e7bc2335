import { ToolError } from '../core/errors.ts';
import { statusError } from './failure.ts';
import type { HttpAnswer } from './http.ts';

const MOST_REDIRECTS = 3;

/**
 * Reads a file at its `raw_url`. GitHub serves those from another host (gist.githubusercontent.com), where the
 * address itself, with its unguessable ids, is the permission: the token goes only to the API's own origin, where
 * an enterprise server in private mode may ask for it. Redirects are followed under the same rule.
 * @throws ToolError `not_found`, `upstream_error`, and what `send` throws
 */
export async function readRaw(
  address: string,
  api: URL,
  token: string,
  send: (url: URL, headers: Record<string, string>) => Promise<HttpAnswer>,
): Promise<Buffer> {
  let url = checked(address, api);
  for (let hop = 0; hop <= MOST_REDIRECTS; hop += 1) {
    const own = url.origin === api.origin;
    const answer = await send(url, own ? { authorization: `Bearer ${token}` } : {});
    if (answer.status === 200) return answer.body;
    const location = answer.headers.get('location');
    if (answer.status < 300 || answer.status >= 400 || location === null) {
      throw statusError(url.host, answer, '');
    }
    url = checked(location, api, url);
  }
  throw new ToolError('upstream_error', `${url.host} redirected more than ${MOST_REDIRECTS} times.`);
}

function checked(address: string, api: URL, from?: URL): URL {
  const url = URL.canParse(address, from?.href) ? new URL(address, from) : undefined;
  // Secret content must not travel in the clear where the API itself doesn't.
  const secure = url?.protocol === 'https:' || (url?.protocol === 'http:' && api.protocol === 'http:');
  if (url && secure && url.username === '' && url.password === '') return url;
  throw new ToolError('upstream_error', `${api.host} gave an address of a file that is not an https URL.`);
}
