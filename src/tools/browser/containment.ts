import { setTimeout as wait } from 'node:timers/promises';

import { type Cdp, type CdpEvent, connectCdp } from './cdp.ts';
import type { Endpoint } from './endpoint.ts';

/** What came of a page's attempt to open an address. */
export interface Attempt {
  url: string;
  /** HTTP status, where an answer came. */
  status?: number;
  /** The egress proxy's own error, as `ERR_ACCESS_DENIED`. */
  proxyError?: string;
  /** Chromium's error, as `ERR_CONNECTION_REFUSED`. */
  netError?: string;
  /** The browser was too busy to begin. */
  untried?: true;
}

/**
 * `refused`: the proxy said no, or the name leads nowhere for pages. `reached`: something answered, or the proxy went
 * there. `unguarded`: nothing answered, but nothing stood in the way either. `no_proxy`: the proxy is down, so that
 * no page opens at all. `untried`: nobody knows.
 */
export type Verdict = 'refused' | 'reached' | 'unguarded' | 'no_proxy' | 'untried';

export function judge({ status, proxyError, netError, untried }: Attempt): Verdict {
  if (untried) return 'untried';
  if (proxyError === 'ERR_ACCESS_DENIED' || proxyError === 'ERR_DNS_FAIL') return 'refused';
  if (proxyError !== undefined || status !== undefined) return 'reached';
  if (netError === 'ERR_PROXY_CONNECTION_FAILED') return 'no_proxy';
  if (netError === 'ERR_NAME_NOT_RESOLVED' || netError?.startsWith('ERR_BLOCKED_BY_')) return 'refused';
  return 'unguarded';
}

/**
 * Lets pages of a context of their own, which nobody's session sees, open addresses that no page should reach.
 * Bodies are not read.
 * @param timeoutMs for all of it; an answer that has not come by then is `ERR_TIMED_OUT`
 */
export async function tryToOpen(
  endpoint: Endpoint,
  urls: readonly string[],
  timeoutMs: number,
): Promise<Attempt[]> {
  const attempts: Attempt[] = urls.map((url) => ({ url, untried: true }));
  let cdp: Cdp | undefined;
  const work = async () => {
    cdp = await connectCdp(endpoint.webSocket);
    const { browserContextId } = await cdp.send('Target.createBrowserContext', { disposeOnDetach: true });
    await Promise.all(
      urls.map((url, at) =>
        open(cdp as Cdp, String(browserContextId), url, (attempt) => (attempts[at] = attempt)),
      ),
    );
  };
  try {
    await Promise.race([work(), wait(timeoutMs, undefined, { ref: false })]);
    return [...attempts];
  } finally {
    cdp?.close();
  }
}

async function open(
  cdp: Cdp,
  browserContextId: string,
  url: string,
  note: (attempt: Attempt) => void,
): Promise<void> {
  const { targetId } = await cdp.send('Target.createTarget', { url: 'about:blank', browserContextId });
  const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: true });
  const session = String(sessionId);
  const answered = new Promise<Attempt>((resolve) => {
    cdp.onEvent((event) => {
      const response = event.sessionId === session ? documentOf(event) : undefined;
      if (response) resolve({ url, ...response });
    });
  });
  await cdp.send('Network.enable', { maxTotalBufferSize: 1, maxResourceBufferSize: 1 }, session);
  note({ url, netError: 'ERR_TIMED_OUT' });
  const navigated = cdp.send('Page.navigate', { url }, session).then(({ errorText }) =>
    // Without an error there is an answer, whose event is on its way.
    typeof errorText === 'string' ? { url, netError: errorText.replace('net::', '') } : answered,
  );
  note(await Promise.race([answered, navigated]));
}

function documentOf({ method, params }: CdpEvent): Omit<Attempt, 'url'> | undefined {
  if (method !== 'Network.responseReceived' || params['type'] !== 'Document') return undefined;
  const { status, headers } = params['response'] as { status: number; headers: Record<string, string> };
  const proxyError = Object.entries(headers).find(([name]) => name.toLowerCase() === 'x-squid-error')?.[1];
  return { status, ...(proxyError !== undefined && { proxyError: proxyError.split(' ')[0] ?? '' }) };
}
