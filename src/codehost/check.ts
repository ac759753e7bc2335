import type { CodeHostSettings } from './settings.ts';

/** Whether the code host accepts the token; resolves with the account's scopes, rejects with the reason. */
export function createCodeHostCheck({ apiUrl, token }: CodeHostSettings) {
  return async (signal: AbortSignal): Promise<string> => {
    const response = await fetch(`${apiUrl}/rate_limit`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' },
      signal,
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const scopes = response.headers.get('x-oauth-scopes');
    return scopes === null ? 'token accepted' : `token accepted, scopes: ${scopes || 'none'}`;
  };
}
