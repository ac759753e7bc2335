import { lookup } from 'node:dns/promises';

import { ToolError, messageOf, systemCodeOf } from '../../core/errors.ts';
import type { BrowserSettings } from './settings.ts';

/** Where the browser's debugging protocol is spoken, with the address in place of a name. */
export interface Endpoint {
  /** `http://IP:PORT`: Chromium refuses requests whose Host is a name other than localhost. */
  readonly http: string;
  /** `ws://IP:PORT/devtools/browser/<id>` */
  readonly webSocket: string;
  /** `HeadlessChrome/156.0.0.0` */
  readonly version: string;
}

/**
 * Asks the browser for its endpoint.
 * @throws ToolError `connection_refused` naming the address as the operator wrote it
 */
export async function findEndpoint(
  { cdpHost, cdpPort }: Pick<BrowserSettings, 'cdpHost' | 'cdpPort'>,
  signal: AbortSignal,
): Promise<Endpoint> {
  try {
    const { address, family } = await lookup(cdpHost);
    const http = `http://${family === 6 ? `[${address}]` : address}:${cdpPort}`;
    const response = await fetch(`${http}/json/version`, { signal, redirect: 'error' });
    const answer = (await response.json()) as { Browser?: string; webSocketDebuggerUrl?: string };
    if (answer.webSocketDebuggerUrl === undefined) throw new Error('what answers there is not a CDP browser');
    // The answer names the address that Chromium believes it has; behind a relay that is another one.
    const { pathname } = new URL(answer.webSocketDebuggerUrl);
    const webSocket = `${http.replace('http', 'ws')}${pathname}`;
    return { http, webSocket, version: answer.Browser ?? 'unknown version' };
  } catch (error) {
    const reason = systemCodeOf(error) ?? (signal.aborted ? 'no answer in time' : messageOf(error));
    throw new ToolError(
      'connection_refused',
      `Connection refused: no browser answers at ws://${cdpHost}:${cdpPort} (${reason}).`,
      {
        hint: 'Start Chromium with --remote-debugging-port (the chromium service of docker-compose.yml), or correct BROWSER_CDP_HOST and BROWSER_CDP_PORT.',
        cause: error,
      },
    );
  }
}
