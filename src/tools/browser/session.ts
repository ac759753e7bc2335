import { ToolError } from '../../core/errors.ts';
import type { AgentBrowser, Command, Step } from './agent-browser.ts';
import type { BrowserContext, Chromium } from './chromium.ts';
import { documentFailure, pageCrashed, stepFailure } from './failures.ts';
import type { Page } from './page.ts';

/** The visible part of a page, in CSS pixels. */
export const WINDOW = { width: 1280, height: 800 };
/** For the command-line tool to come back from a page that has just opened a dialog. */
const AFTER_DIALOG_MS = 500;
/** For a page that an action has sent elsewhere to arrive there. */
const SETTLE_MS = 5_000;

export interface ActOptions {
  /** What is done, for messages. */
  what: string;
  signal: AbortSignal;
  /** A page must answer within this; then it is ended. */
  timeoutMs: number;
  format?: 'png' | 'jpeg';
  quality?: number;
}

/** One caller's tabs and cookies, and the command-line tool's daemon that acts on them. One action at a time. */
export class Session {
  readonly name: string;
  readonly context: BrowserContext;
  #cli: AgentBrowser;
  #chromium: Chromium;
  #id: string;
  /** The tab that the daemon keeps to; undefined where no daemon runs. */
  #bound: Page | undefined;
  /** Process id of that daemon. */
  #daemon: number | undefined;
  #active: Page | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    name: string,
    id: string,
    parts: { context: BrowserContext; chromium: Chromium; cli: AgentBrowser },
  ) {
    this.name = name;
    this.#id = id;
    this.context = parts.context;
    this.#chromium = parts.chromium;
    this.#cli = parts.cli;
  }

  /** Runs `work` after all that came before it; a call that is cancelled while it waits never runs. */
  async inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const mine = (async () => {
      await before;
      signal.throwIfAborted();
      return work();
    })();
    this.#last = mine.catch(() => {});
    return mine;
  }

  /** The tab that is acted on: the one chosen, else the newest. undefined where all are closed. */
  get page(): Page | undefined {
    if (this.#active && !this.#active.closed) return this.#active;
    return this.context.pages().at(-1);
  }

  set page(page: Page | undefined) {
    this.#active = page;
  }

  /** The page to act on; for `open` a new one where there is none or it crashed. @throws ToolError `page_crashed` */
  async usablePage(opening: boolean): Promise<Page> {
    const { page } = this;
    if (page && !page.crashed) {
      this.#active = page;
      return page;
    }
    if (page) await this.#replace(page);
    if (!opening) throw pageCrashed(this.name, page ? 'it crashed' : 'its last tab was closed');
    return (this.#active = await this.context.newPage());
  }

  /**
   * Runs commands of the tool on a page.
   * @returns the steps; or `dialog`, where one keeps the page from going on, or `closed`, where the tab closed itself
   * @throws ToolError `timeout`, `page_crashed` or `cancelled`, after which nothing of the action goes on
   */
  async act(
    page: Page,
    commands: readonly Command[],
    options: ActOptions,
  ): Promise<Step[] | 'dialog' | 'closed'> {
    const late = AbortSignal.timeout(options.timeoutMs);
    const enough = new AbortController();
    const signal = AbortSignal.any([options.signal, late, enough.signal]);
    const interrupted = this.#interruption(page, signal).then(async (why) => {
      enough.abort();
      return why;
    });
    try {
      const run = this.#run(page, commands, { ...options, signal }).catch((error: unknown) => {
        // Killing the process fails it; the reason is what it was killed for.
        if (signal.aborted) return interrupted;
        throw error;
      });
      const outcome = await Promise.race([run, interrupted]);
      if (outcome === 'dialog') return outcome;
      if (outcome === 'gone') {
        if (page.crashed) throw await this.#crashed(page);
        await this.#unbind();
        return 'closed';
      }
      if (outcome === 'ended') throw await this.#end(page, options, late.aborted);
      const wedged = outcome.find(({ code }) => code === 'page_wedged' || code === 'outcome_unknown');
      if (wedged) throw await this.#end(page, options, true);
      return outcome;
    } finally {
      enough.abort();
    }
  }

  /**
   * Waits, a while, until what an action has set going is there.
   * @param arrived for an action that is known to have led to another document: whether that is the one seen
   */
  async settle(page: Page, signal: AbortSignal, arrived?: () => boolean): Promise<void> {
    if (page.dialog || page.gone) return;
    if (arrived) {
      const soon = AbortSignal.any([signal, AbortSignal.timeout(SETTLE_MS)]);
      await page.until(() => arrived() || page.dialog !== undefined || page.gone, soon);
    }
    // The page's own thread answers after it has begun what the action asked of it.
    await page.answers();
    const enough = AbortSignal.any([signal, AbortSignal.timeout(SETTLE_MS)]);
    if (!page.loading) return;
    await page.until(() => !page.loading || page.dialog !== undefined || page.gone, enough);
    await page.answers();
  }

  /**
   * The tool has led to another document, it says, and the tab shows the one before: seen, seldom, on a machine with
   * twenty times its load. The page before must not pass for the one that was opened.
   */
  async lost(page: Page, what: string): Promise<ToolError> {
    await this.#unbind();
    return new ToolError('upstream_error', `${what}: the tab did not follow, and shows ${page.url}.`, {
      hint: 'Call open again; it is connected to afresh.',
    });
  }

  async dispose(): Promise<void> {
    await Promise.all([this.#cli.kill(this.#id), this.context.dispose()]);
  }

  async closePage(page: Page): Promise<void> {
    if (this.#bound === page) await this.#unbind();
    await this.context.closePage(page);
  }

  async #run(page: Page, commands: readonly Command[], options: ActOptions): Promise<Step[]> {
    const { endpoint } = this.#chromium;
    const base = { session: this.#id, cdp: endpoint.http, ...options };
    // One that ended by itself was followed by another, which would act on whatever tab it comes upon.
    if (this.#bound && this.#cli.daemon(this.#id) !== this.#daemon) await this.#unbind();
    if (this.#bound === page) return this.#cli.run(commands, { ...base, pinned: true });

    if (this.#bound?.gone) await this.#unbind();
    // Unpinned, or the daemon would open a tab of its own, outside the session's context.
    const size = ['set', 'viewport', String(WINDOW.width), String(WINDOW.height)];
    const keepTo = ['tab', page.targetId];
    const attempt = async (): Promise<Step[] | { failed: Step }> => {
      const found = await this.#cli.run([keepTo, size], { ...base, pinned: false });
      const unfound = await this.#bindingFault(found);
      if (unfound) return { failed: unfound };
      // Named again in the run that pins it: between two runs the daemon knows its tab by its place among all tabs,
      // and when another session closes one, that is the place of somebody else's.
      const [kept, ...steps] = await this.#cli.run([keepTo, ...commands], { ...base, pinned: true });
      const unkept = await this.#bindingFault(kept ? [kept] : []);
      return unkept ? { failed: unkept } : steps;
    };
    // Chromium may still be taking down a crashed tab that the daemon attaches to on its way. Nothing of the
    // action has run yet, so a fresh daemon may try again.
    let outcome = await attempt();
    if ('failed' in outcome) outcome = await attempt();
    if ('failed' in outcome) throw stepFailure('connecting to the tab', outcome.failed.error ?? '', page.url);
    this.#daemon = this.#cli.daemon(this.#id);
    this.#bound = page;
    return outcome;
  }

  /** The step that failed to bring the daemon to its tab; then there is no such daemon any more. */
  async #bindingFault(steps: readonly Step[]): Promise<Step | undefined> {
    const failed = steps.find(({ success }) => !success);
    if (failed) await this.#unbind();
    return failed;
  }

  /** Resolves with what keeps an action from ending well; never, where nothing does. */
  async #interruption(page: Page, signal: AbortSignal): Promise<'dialog' | 'gone' | 'ended'> {
    await page.until(() => page.dialog !== undefined || page.gone, signal);
    if (page.dialog && !page.gone && !signal.aborted) {
      // Usually the tool notices, and ends by itself.
      const soon = AbortSignal.any([signal, AbortSignal.timeout(AFTER_DIALOG_MS)]);
      await page.until(() => page.gone || page.dialog === undefined, soon);
      if (!signal.aborted && !page.gone) return page.dialog ? 'dialog' : this.#interruption(page, signal);
    }
    return page.gone ? 'gone' : 'ended';
  }

  /** Ends an action that took too long, or that nobody waits for any more; with it the page, where it hangs. */
  async #end(page: Page, { what, signal, timeoutMs }: ActOptions, late: boolean): Promise<unknown> {
    await this.#unbind();
    await page.stopLoading();
    const alive = page.dialog !== undefined || (await page.answers());
    if (!alive) await this.#replace(page);
    if (!late) return signal.reason;
    return new ToolError(
      'timeout',
      `${what} did not end within ${timeoutMs / 1000} s${alive ? '' : '; the page’s scripts hang, so it was closed'}.`,
      {
        hint: alive
          ? 'The page is still open: snapshot shows what is there. A longer timeout_seconds may help.'
          : 'The session keeps its cookies; open another address.',
      },
    );
  }

  async #crashed(page: Page): Promise<ToolError> {
    await this.#replace(page);
    return pageCrashed(this.name, 'it crashed');
  }

  async #replace(page: Page): Promise<void> {
    await this.#unbind();
    await this.context.closePage(page);
  }

  async #unbind(): Promise<void> {
    this.#bound = undefined;
    await this.#cli.kill(this.#id);
  }
}

/** @throws ToolError of the page that is shown, where it is an error page */
export function rejectErrorPage(page: Page): void {
  const failure = page.document && documentFailure(page.document);
  if (failure) throw failure;
}
