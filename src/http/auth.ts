import { hash, timingSafeEqual } from 'node:crypto';

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');

/**
 * Makes the check of a request's credentials: `?token=`, `Authorization: Bearer` or `x-api-key`.
 * The value must equal the secret exactly, or the one before it while a rotation lasts. Two different credentials in one request are refused, so that
 * a proxy and the server can never disagree on which one counts.
 */
export function createAuthenticator(secret: string, previous = ''): (request: Request) => boolean {
  // Digests have one length, so the comparison tells nothing of the secret's.
  const expected = (previous === '' ? [secret] : [secret, previous]).map(sha256);
  return (request) => {
    const credential = credentialOf(request);
    if (credential === undefined) return false;
    const digest = sha256(credential);
    return expected.map((each) => timingSafeEqual(digest, each)).includes(true);
  };
}

/** The one credential of a request; undefined where there is none, more than one, or one of another kind. */
function credentialOf({ url, headers }: Request): string | undefined {
  const [address = ''] = url.split('#', 1);
  const query = address.indexOf('?');
  const found = new Set(query === -1 ? [] : new URLSearchParams(address.slice(query)).getAll('token'));
  const apiKey = headers.get('x-api-key');
  if (apiKey !== null) found.add(apiKey);
  const authorization = headers.get('authorization');
  if (authorization !== null) {
    const bearer = /^bearer (?<token>.+)$/i.exec(authorization)?.groups?.['token'];
    if (bearer === undefined) return undefined;
    found.add(bearer);
  }
  return found.size === 1 ? [...found][0] : undefined;
}
