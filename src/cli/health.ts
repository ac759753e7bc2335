import { messageOf } from '../core/errors.ts';

const TIMEOUT_MS = 5_000;

/** Asks the server of this machine for GET /health; what a container's health check runs. */
export async function askHealth(
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ ok: boolean; message: string }> {
  const port = env['PORT'] || '3000';
  try {
    const response = await fetch(`http://127.0.0.1:${port}/health`, {
      headers: { authorization: `Bearer ${env['MCP_SECRET'] ?? ''}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    return { ok: response.ok, message: response.ok ? text : `HTTP ${response.status}` };
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    return { ok: false, message: messageOf(cause ?? error) };
  }
}
