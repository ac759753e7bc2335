import { EventEmitter } from 'node:events';

import type { Cdp, CdpEvent } from './cdp.ts';

export interface Dialog {
  type: string;
  message: string;
}

/** What came of the last navigation of a page's main frame. */
export interface MainDocument {
  url: string;
  /** HTTP status, where an HTTP answer came. */
  status?: number;
  /** The egress proxy's own error, as `ERR_ACCESS_DENIED 0`: its pages look like any site's to a browser. */
  proxyError?: string;
  /** Chromium's error, as `net::ERR_NAME_NOT_RESOLVED`. */
  netError?: string;
}

interface Events {
  /** Something of this page changed: a dialog, a load, its end. */
  change: [];
}

const PING_MS = 1_000;
const MOST_SELECTORS = 200;
const LONGEST_TITLE = 500;
/** Squid puts the name of the error where its pages' style sheets look for it. */
const SELF = `(() => {
  const status = performance.getEntriesByType('navigation')[0]?.responseStatus || undefined;
  const isProxys = document.title === 'ERROR: The requested URL could not be retrieved';
  return { url: location.href, status, proxyError: isProxys ? document.body?.id : undefined };
})()`;

/**
 * One tab, seen over the debugging protocol. The command-line tool acts on it; this watches what came of it,
 * which the tool doesn't tell: statuses, refusals by the proxy, dialogs, crashes, and where a click has led.
 */
export class Page extends EventEmitter<Events> {
  readonly targetId: string;
  /** As the session's caller names it: `t1`, `t2`, … */
  readonly name: string;
  url = 'about:blank';
  title = '';
  dialog: Dialog | undefined;
  crashed = false;
  closed = false;
  loading = false;
  document: MainDocument | undefined;
  /** What the caller should hear of, and hasn't yet. */
  notices: string[] = [];
  /** Downloads that were refused, likewise. */
  downloads: string[] = [];
  #cdp: Cdp;
  #sessionId = '';
  #attached: Promise<void> | undefined;
  /** Selectors that it could read: their syntax is the browser's, and does not change with the document. */
  #readable = new Set<string>();
  #navigation: { requestId: string; document: MainDocument } | undefined;

  constructor(cdp: Cdp, targetId: string, name: string) {
    super();
    this.#cdp = cdp;
    this.targetId = targetId;
    this.name = name;
    // One for each call that waits on it.
    this.setMaxListeners(0);
  }

  /** Starts watching, once. Fails when the page is gone already. */
  attach(): Promise<void> {
    return (this.#attached ??= this.#attach());
  }

  async #attach(): Promise<void> {
    const { sessionId } = await this.#cdp.send('Target.attachToTarget', {
      targetId: this.targetId,
      flatten: true,
    });
    this.#sessionId = String(sessionId);
    await Promise.all([
      this.#send('Page.enable'),
      // Bodies are of no interest, so none are kept for this connection.
      this.#send('Network.enable', { maxTotalBufferSize: 1, maxResourceBufferSize: 1 }),
    ]);
    await this.#catchUp().catch(() => {});
  }

  /** A tab that a page opened may be there before it is watched; then its document says what it is. */
  async #catchUp(): Promise<void> {
    const { result } = await this.#send(
      'Runtime.evaluate',
      { expression: SELF, returnByValue: true },
      PING_MS,
    );
    const { value } = result as { value?: { url: string; status?: number; proxyError?: string } };
    if (value?.status === undefined || this.document?.status !== undefined) return;
    const { url, status, proxyError } = value;
    this.url = url;
    this.document = { url, status, ...(proxyError !== undefined && { proxyError }) };
  }

  /** Asks the page for its title. false where it doesn't answer: it spins, or shows a dialog. */
  async answers(): Promise<boolean> {
    const asked = this.#send('Runtime.evaluate', { expression: 'document.title' }, PING_MS).then(
      ({ result }) => {
        const { value } = result as { value?: unknown };
        if (typeof value === 'string') this.title = value.slice(0, LONGEST_TITLE);
        return true;
      },
      () => false,
    );
    const enough = new AbortController();
    const blocked = this.until(() => this.dialog !== undefined || this.gone, enough.signal);
    const answered = await Promise.race([asked, blocked.then(() => false)]);
    enough.abort();
    return answered;
  }

  /**
   * Whether a CSS selector can be read at all. Where the page doesn't say, it can.
   * The page's scripts may have replaced what is asked here; all they win is an error.
   */
  async reads(selector: string): Promise<boolean> {
    if (this.#readable.has(selector)) return true;
    const expression = `document.createDocumentFragment().querySelector(${JSON.stringify(selector)})`;
    const answer = await this.#send('Runtime.evaluate', { expression }, PING_MS).catch(() => undefined);
    if (!answer) return true;
    if (answer['exceptionDetails'] !== undefined) return false;
    if (this.#readable.size >= MOST_SELECTORS) this.#readable.clear();
    this.#readable.add(selector);
    return true;
  }

  async answerDialog(accept: boolean, promptText?: string): Promise<void> {
    this.dialog = undefined;
    await this.#send('Page.handleJavaScriptDialog', {
      accept,
      ...(promptText !== undefined && { promptText }),
    });
  }

  async stopLoading(): Promise<void> {
    await this.#send('Page.stopLoading', {}, PING_MS).catch(() => {});
  }

  /** Resolves when `done` holds, looked at after each change; or when `signal` is aborted. */
  async until(done: () => boolean, signal: AbortSignal): Promise<void> {
    if (done() || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const look = () => {
        if (!done() && !signal.aborted) return;
        this.off('change', look);
        signal.removeEventListener('abort', look);
        resolve();
      };
      this.on('change', look);
      signal.addEventListener('abort', look);
    });
  }

  /** Takes note of an event; those of other pages are passed over. */
  handle({ method, params, sessionId }: CdpEvent): void {
    if (sessionId !== this.#sessionId) return;
    switch (method) {
      case 'Page.javascriptDialogOpening':
        this.#dialogOpened(params as { type: string; message: string });
        break;
      case 'Page.javascriptDialogClosed':
        this.dialog = undefined;
        break;
      case 'Page.frameStartedLoading':
      case 'Page.frameRequestedNavigation':
        if (params['frameId'] === this.targetId) this.loading = true;
        break;
      case 'Page.frameStoppedLoading':
        if (params['frameId'] === this.targetId) this.loading = false;
        break;
      case 'Page.frameNavigated':
        this.#navigated(params['frame'] as { parentId?: string; url: string; unreachableUrl?: string });
        break;
      case 'Network.requestWillBeSent':
        if (params['type'] === 'Document' && params['frameId'] === this.targetId) {
          const { url } = params['request'] as { url: string };
          this.#navigation = { requestId: String(params['requestId']), document: { url } };
        }
        break;
      case 'Network.responseReceived':
        // A tab that has just opened may have sent its request before it was watched.
        if (params['type'] === 'Document' && params['frameId'] === this.targetId) {
          this.#answered(String(params['requestId']), params['response'] as Response);
        }
        break;
      case 'Network.loadingFailed':
        if (params['requestId'] === this.#navigation?.requestId && this.#navigation) {
          this.#navigation.document.netError = String(params['errorText']);
        }
        break;
      default:
        return;
    }
    this.emit('change');
  }

  described({ url, title }: { url: string; title: string }): void {
    this.title = title.slice(0, LONGEST_TITLE);
    // An error page goes by the address that was asked for.
    if (url !== '' && !url.startsWith('chrome-error:')) this.url = url;
  }

  downloadRefused(name: string, url: string): void {
    this.downloads.push(
      `The page offered a download, ${name.slice(0, 200)} from ${url.slice(0, 500)}, which was refused.`,
    );
    this.emit('change');
  }

  /** Told once, however many it tries. */
  tabRefused(most: number): void {
    const notice = `The page tried to open more than ${most} tabs; the rest were closed.`;
    if (!this.notices.includes(notice)) this.notices.push(notice);
  }

  /** Nothing more will come of it. */
  get gone(): boolean {
    return this.crashed || this.closed;
  }

  end(how: 'crashed' | 'closed'): void {
    this[how] = true;
    this.dialog = undefined;
    this.loading = false;
    this.emit('change');
  }

  #dialogOpened({ type, message }: { type: string; message: string }): void {
    // An alert, or a page that would rather not be left, has nothing to decide and would block all that follows.
    if (type === 'alert' || type === 'beforeunload') {
      if (type === 'alert') this.notices.push(`The page showed an alert: ${message.slice(0, 1000)}`);
      this.answerDialog(true).catch(() => {});
    } else {
      this.dialog = { type, message: message.slice(0, 4000) };
    }
  }

  #answered(requestId: string, { url, status, headers }: Response): void {
    const proxyError = Object.entries(headers).find(([name]) => name.toLowerCase() === 'x-squid-error')?.[1];
    const document = { url, status, ...(proxyError !== undefined && { proxyError }) };
    this.#navigation = { requestId, document };
    // The frame may have arrived before it was watched, too.
    if (this.document?.url === url && this.document.status === undefined) this.document = document;
  }

  #navigated({ parentId, url, unreachableUrl }: { parentId?: string; url: string; unreachableUrl?: string }) {
    if (parentId !== undefined) return;
    this.url = unreachableUrl ?? url;
    const seen = this.#navigation?.document;
    if (unreachableUrl !== undefined) {
      this.document = { url: unreachableUrl, netError: seen?.netError ?? 'net::ERR_FAILED' };
    } else {
      // A page out of the back-forward cache, about:blank and data: URLs come without a request.
      const { netError: _, ...document } = seen?.url === url ? seen : { url };
      this.document = document;
    }
  }

  #send(method: string, params: object = {}, timeoutMs?: number): Promise<Record<string, unknown>> {
    return this.#cdp.send(method, params, this.#sessionId, timeoutMs);
  }
}

interface Response {
  url: string;
  status: number;
  headers: Record<string, string>;
}
