import { type Cdp, type CdpEvent, connectCdp } from './cdp.ts';
import type { Endpoint } from './endpoint.ts';
import { Page } from './page.ts';

/** Cookies, storage and tabs of one session, which no other session sees. */
export interface BrowserContext {
  /** Open tabs, the oldest first. */
  pages(): Page[];
  newPage(): Promise<Page>;
  /** Ends a tab, also one that hangs. */
  closePage(page: Page): Promise<void>;
  /** Ends all of it. */
  dispose(): Promise<void>;
}

/** The browser, as far as the command-line tool leaves it to us: what sessions are made of, and what they did. */
export interface Chromium {
  readonly endpoint: Endpoint;
  newContext(): Promise<BrowserContext>;
  readonly ended: Promise<unknown>;
  close(): void;
}

/** A page that opens more than this takes the browser from other sessions. */
const MOST_TABS = 16;

interface TargetInfo {
  /** The tab that opened this one. */
  openerId?: string;
  targetId: string;
  type: string;
  title: string;
  url: string;
  browserContextId?: string;
}

export async function connectChromium(endpoint: Endpoint): Promise<Chromium> {
  const cdp = await connectCdp(endpoint.webSocket);
  const contexts = new Map<string, Context>();
  const byTarget = new Map<string, Page>();
  cdp.onEvent((event) => {
    if (event.sessionId === undefined) browserEvent(event, contexts, byTarget);
    else for (const page of byTarget.values()) page.handle(event);
  });
  const ended = cdp.ended.then(() => {
    for (const page of byTarget.values()) page.end('crashed');
    return undefined;
  });
  await cdp.send('Target.setDiscoverTargets', { discover: true, filter: [{ type: 'page' }] });

  return {
    endpoint,
    ended,
    close: () => cdp.close(),
    async newContext() {
      // Chromium disposes of it by itself when this connection ends, so that a server that was killed leaves nothing.
      const { browserContextId } = await cdp.send('Target.createBrowserContext', { disposeOnDetach: true });
      const context = new Context(cdp, String(browserContextId), byTarget, (id) => contexts.delete(id));
      contexts.set(context.id, context);
      await cdp.send('Browser.setDownloadBehavior', {
        behavior: 'deny',
        browserContextId,
        eventsEnabled: true,
      });
      return context;
    },
  };
}

function browserEvent(
  { method, params }: CdpEvent,
  contexts: ReadonlyMap<string, Context>,
  byTarget: Map<string, Page>,
): void {
  const info = params['targetInfo'] as TargetInfo | undefined;
  const page = byTarget.get(info?.targetId ?? String(params['targetId'] ?? params['frameId']));
  switch (method) {
    case 'Target.targetCreated':
      if (info) contexts.get(info.browserContextId ?? '')?.adopt(info);
      break;
    case 'Target.targetInfoChanged':
      if (page && info) page.described(info);
      break;
    case 'Target.targetDestroyed':
      page?.end('closed');
      if (page) byTarget.delete(page.targetId);
      break;
    case 'Target.targetCrashed':
      page?.end('crashed');
      break;
    case 'Browser.downloadWillBegin':
      page?.downloadRefused(String(params['suggestedFilename']), String(params['url']));
      break;
    default:
  }
}

class Context implements BrowserContext {
  readonly id: string;
  #cdp: Cdp;
  #byTarget: Map<string, Page>;
  #forget: (id: string) => void;
  #pages: Page[] = [];
  #named = 0;
  /** Tabs that were closed because there were too many. */
  #refused = 0;

  constructor(cdp: Cdp, id: string, byTarget: Map<string, Page>, forget: (id: string) => void) {
    this.#cdp = cdp;
    this.id = id;
    this.#byTarget = byTarget;
    this.#forget = forget;
  }

  pages(): Page[] {
    this.#pages = this.#pages.filter((page) => !page.closed);
    return [...this.#pages];
  }

  async newPage(): Promise<Page> {
    const { targetId } = await this.#cdp.send('Target.createTarget', {
      url: 'about:blank',
      browserContextId: this.id,
    });
    return this.#watch(String(targetId));
  }

  /** A tab that a page opened, or one that newPage asked for. */
  adopt(info: TargetInfo): void {
    if (!this.#byTarget.has(info.targetId) && this.pages().length >= MOST_TABS) {
      this.#refuse(info);
      return;
    }
    this.#watch(info.targetId, info).catch(() => {});
  }

  #refuse({ targetId, openerId = '' }: TargetInfo): void {
    this.#cdp.send('Target.closeTarget', { targetId }).catch(() => {});
    const opener = this.#byTarget.get(openerId);
    opener?.tabRefused(MOST_TABS);
    if (++this.#refused % MOST_TABS !== 0) return;
    // It goes on, and each tab costs the browser more than it costs the page.
    if (opener) void this.closePage(opener);
    const left = this.pages().at(-1);
    left?.notices.push(`The tab ${opener?.name ?? 'of a page'} kept opening tabs, so it was closed.`);
  }

  async closePage(page: Page): Promise<void> {
    await this.#cdp.send('Target.closeTarget', { targetId: page.targetId }).catch(() => {});
    page.end('closed');
  }

  async dispose(): Promise<void> {
    this.#forget(this.id);
    for (const page of this.#pages) page.end('closed');
    await this.#cdp.send('Target.disposeBrowserContext', { browserContextId: this.id }).catch(() => {});
  }

  // The browser announces a tab that newPage asked for before it answers newPage, so both come here for it.
  async #watch(targetId: string, info?: TargetInfo): Promise<Page> {
    let page = this.#byTarget.get(targetId);
    if (!page) {
      page = new Page(this.#cdp, targetId, `t${++this.#named}`);
      this.#byTarget.set(targetId, page);
      this.#pages.push(page);
    }
    if (info) page.described(info);
    await page.attach();
    return page;
  }
}
