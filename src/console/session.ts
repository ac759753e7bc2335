import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/** How long a browser stays signed in. */
export const SESSION_SECONDS = 12 * 60 * 60;

/**
 * Sessions without a store: a cookie holds its expiry, a random part and a MAC over both. It tells nothing of the
 * secret that the key is derived from, outlives a restart, and ends when the secret is changed.
 */
export interface Sessions {
  /** A new cookie value. */
  issue(): string;
  valid(cookie: string | undefined): cookie is string;
  /** The token that a form of this session carries: a page of another origin cannot read it. */
  formToken(cookie: string): string;
  validFormToken(cookie: string, token: string | null): boolean;
}

/**
 * @param previous the secret before a rotation; '' for none
 * @param now milliseconds
 */
export function createSessions(secret: string, previous = '', now: () => number = Date.now): Sessions {
  const keys = [secret, ...(previous === '' ? [] : [previous])].map(keyOf) as [Buffer, ...Buffer[]];

  const formToken = (cookie: string) => mac(keys[0], `form ${cookie}`);
  return {
    issue() {
      const body = `${Math.floor(now() / 1000) + SESSION_SECONDS}.${randomBytes(16).toString('base64url')}`;
      return `${body}.${mac(keys[0], `session ${body}`)}`;
    },
    valid(cookie): cookie is string {
      const parts = /^(?<body>(?<expiry>\d{1,12})\.[\w-]{22})\.(?<seal>[\w-]{43})$/.exec(
        cookie ?? '',
      )?.groups;
      if (!parts) return false;
      const { body, expiry, seal = '' } = parts;
      if (Number(expiry) * 1000 <= now()) return false;
      return keys.map((key) => equal(mac(key, `session ${body}`), seal)).includes(true);
    },
    formToken,
    validFormToken: (cookie, token) => equal(formToken(cookie), token ?? ''),
  };
}

function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'remote-tool-server console', 32));
}

function mac(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

function equal(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
