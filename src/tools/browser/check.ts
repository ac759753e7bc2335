import { findEndpoint } from './endpoint.ts';
import type { BrowserSettings } from './settings.ts';

/** Whether a CDP browser listens; resolves with its version, rejects with the reason. */
export function createBrowserCheck(settings: Pick<BrowserSettings, 'cdpHost' | 'cdpPort'>) {
  return async (signal: AbortSignal): Promise<string> => (await findEndpoint(settings, signal)).version;
}
