import * as z from 'zod';

import type { CodeHost } from './client.ts';

/** Whether the code host accepts the token; resolves with the account's scopes, rejects with the reason. */
export function createCodeHostCheck(codeHost: CodeHost) {
  return async (signal: AbortSignal): Promise<string> => {
    // Asking for the limits costs nothing of them.
    const { scopes } = await codeHost.request({ path: '/rate_limit', signal }, z.unknown());
    return scopes === null ? 'token accepted' : `token accepted, scopes: ${scopes || 'none'}`;
  };
}
