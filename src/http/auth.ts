import { createHash, timingSafeEqual } from 'node:crypto';

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Makes the check of a request's credentials: `?token=`, `Authorization: Bearer` or `x-api-key`.
 * The value must equal the secret exactly. Two different credentials in one request are refused, so that
 * a proxy and the server can never disagree on which one counts.
 */
export function createAuthenticator(secret: string): (request: Request) => boolean {
  // Digests have one length, so the comparison tells nothing of the secret's.
  const expected = sha256(secret);
  return (request) => {
    const [credential, ...others] = credentialsOf(request);
    if (credential === undefined || others.length > 0) return false;
    return timingSafeEqual(sha256(credential), expected);
  };
}

function credentialsOf(request: Request): Set<string> {
  const found = new Set<string>();
  const query = request.url.indexOf('?');
  if (query !== -1) {
    for (const token of new URLSearchParams(request.url.slice(query)).getAll('token')) found.add(token);
  }
  const authorization = request.headers.get('authorization');
  // Another scheme is a credential too, and not ours: it must not pass beside a right token unnoticed.
  if (authorization !== null)
    found.add(/^bearer /i.test(authorization) ? authorization.slice(7) : authorization);
  const apiKey = request.headers.get('x-api-key');
  if (apiKey !== null) found.add(apiKey);
  return found;
}
