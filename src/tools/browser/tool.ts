import { lookup } from 'node:dns/promises';

import { type Tool, defineTool } from '../../core/tool.ts';
import { createAgentBrowser } from './agent-browser.ts';
import { perform } from './perform.ts';
import { decide, hostOf, mayOpen } from './policy.ts';
import { input, output } from './schema.ts';
import { createSessions } from './sessions.ts';
import type { BrowserSettings } from './settings.ts';

/** Beyond the action's own limit: waiting for its turn, for a browser that is coming back, and for the end of it. */
const AROUND_MS = 15_000;

export interface BrowserTool extends Tool {
  /** Sessions that are open. */
  sessions(): number;
}

/**
 * A browser, driven by the command-line tool agent-browser.
 * @param path the PATH on which agent-browser is looked for
 */
export function createBrowser(settings: BrowserSettings, path: string | undefined): BrowserTool {
  const cli = createAgentBrowser(path, settings.idleSeconds * 1000);
  const sessions = createSessions(settings, cli);
  const tool = defineTool({
    name: 'browser',
    title: 'Browser',
    description:
      'Drives a headless browser, for pages that need JavaScript, clicks or a login. ' +
      'Example: {"action":"open","url":"https://example.org"}, then snapshot for refs, then {"action":"click","ref":"e3"}.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    input,
    output,
    untrusted: ['title', 'snapshot', 'text', 'result', 'tabs', 'console', 'dialog'],
    deadlineMs: ({ timeout_seconds }) => timeout_seconds * 1000 + AROUND_MS,
    decide: (call) => decide(call, settings),
    async run(call, { signal }) {
      if (call.action === 'close' && call.tab === undefined) {
        await sessions.end(call.session);
        return { value: { session: call.session, url: '', title: '' } };
      }
      const refusePrivate = (url: URL) => refusePrivateAddresses(url, settings.allowedPrivateHosts);
      if (call.action === 'open') await refusePrivate(new URL(call.url ?? ''));
      return sessions.use(call.session, call.action === 'open', signal, (session) =>
        perform(session, call, cli, signal, refusePrivate),
      );
    },
    close: () => sessions.close(),
  });
  return { ...tool, sessions: () => sessions.count() };
}

/**
 * Early and in plain words what the egress proxy would refuse; where there is no such proxy, all there is. A name
 * that doesn't resolve here may do so for the browser.
 */
async function refusePrivateAddresses(url: URL, allowed: readonly string[]): Promise<void> {
  const found = await lookup(hostOf(url), { all: true }).catch(() => []);
  mayOpen(
    url,
    found.map(({ address }) => address),
    allowed,
  );
}
