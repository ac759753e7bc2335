import { lookup } from 'node:dns/promises';

import type { BrowserSettings } from './settings.ts';

/** Whether a CDP browser listens; resolves with its version, rejects with the reason. */
export function createBrowserCheck({ cdpHost, cdpPort }: BrowserSettings) {
  return async (signal: AbortSignal): Promise<string> => {
    // Chromium refuses DevTools requests whose Host is a name other than localhost.
    const { address, family } = await lookup(cdpHost);
    const host = family === 6 ? `[${address}]` : address;
    const response = await fetch(`http://${host}:${cdpPort}/json/version`, { signal });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const { Browser: browser } = (await response.json()) as { Browser?: string };
    return browser ?? 'unknown version';
  };
}
