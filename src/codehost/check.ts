import * as z from 'zod';

import type { CodeHost } from './client.ts';

/** What `/rate_limit` answers; a portal or another service that says yes to everything answers something else. */
export const rateLimitReport = z.looseObject({ resources: z.looseObject({}) });

/** Whether the code host accepts the token; resolves with the account's scopes, rejects with the reason. */
export function createCodeHostCheck(codeHost: CodeHost) {
  return async (signal: AbortSignal): Promise<string> => {
    // Asking for the limits costs nothing of them.
    const { scopes } = await codeHost.request({ path: '/rate_limit', signal }, rateLimitReport);
    return scopes === null ? 'token accepted' : `token accepted, scopes: ${scopes || 'none'}`;
  };
}
