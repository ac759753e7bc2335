import * as z from 'zod';

import { type ApiCall, requestJson } from './http.ts';
import { type ProviderSettings, endpoint } from './provider.ts';

const PREFIX = 'tskey-client-';
/** A token is given up this long before its hour ends, so that none expires on its way. */
const SPARE_MS = 60_000;

const tokenAnswer = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  expires_in: z.number().positive().catch(3600),
});

/** Access tokens for an OAuth client, which unlike an API access token does not expire. */
export interface OauthTokens {
  /** The current token, or a new one. Not to be called twice at the same time. */
  token(call: ApiCall): Promise<string>;
  /** Drops the current token after the API refused it. */
  forget(): void;
}

/** Whether a key is an OAuth client's secret; used as a token as it is, it gets a 403 that looks like a missing scope. */
export function isOauthSecret(key: string): boolean {
  return key.startsWith(PREFIX);
}

/** Exchanges the secret in `settings.apiKey` for access tokens. `now` is in milliseconds and only ever grows. */
export function createOauthTokens(settings: ProviderSettings, now: () => number): OauthTokens {
  const secret = settings.apiKey;
  // The secret is `tskey-client-<id>-<secret>`: one variable is enough.
  const [id = ''] = secret.slice(PREFIX.length).split('-', 1);
  let current: { token: string; until: number } | undefined;

  return {
    async token(call) {
      if (current && now() < current.until) return current.token;
      const started = now();
      const { access_token: token, expires_in: seconds } = await requestJson(
        {
          url: endpoint(settings, '/api/v2/oauth/token'),
          form: new URLSearchParams({
            grant_type: 'client_credentials',
            client_id: id,
            client_secret: secret,
          }),
          hints: {
            unauthorized:
              'MESH_API_KEY holds an OAuth client secret that is not accepted: it was revoked or is incomplete.',
            forbidden:
              'Give the OAuth client in MESH_API_KEY the scope "Devices (read)" (devices:core:read).',
            notFound:
              'MESH_API_URL does not serve OAuth tokens; set MESH_API_KEY to an API access token (tskey-api-…).',
          },
        },
        tokenAnswer,
        call,
      );
      current = { token, until: started + seconds * 1000 - SPARE_MS };
      return token;
    },
    forget() {
      current = undefined;
    },
  };
}
