import { setTimeout as pause } from 'node:timers/promises';

import { ToolError } from '../../core/errors.ts';
import type { AgentBrowser } from './agent-browser.ts';
import { type Chromium, connectChromium } from './chromium.ts';
import { findEndpoint } from './endpoint.ts';
import { pageCrashed } from './failures.ts';
import { Session } from './session.ts';
import type { BrowserSettings } from './settings.ts';

const CONNECT_MS = 5_000;
/** What a browser that was killed may need to be back. */
const COMEBACK_MS = 10_000;
const COMEBACK_PAUSE_MS = 100;

/** The sessions that are open, by their callers' names. */
export interface Sessions {
  /**
   * The session of that name, made where `create` is set.
   * @throws ToolError `not_found`, `rate_limited`, `page_crashed` or `connection_refused`
   */
  use<T>(
    name: string,
    create: boolean,
    signal: AbortSignal,
    work: (session: Session) => Promise<T>,
  ): Promise<T>;
  /** Ends a session; nothing where there is none. */
  end(name: string): Promise<void>;
  /** How many there are. */
  count(): number;
  close(): Promise<void>;
}

interface Entry {
  session: Promise<Session>;
  using: number;
  usedAt: number;
  idle?: NodeJS.Timeout;
}

export function createSessions(settings: BrowserSettings, cli: AgentBrowser): Sessions {
  const entries = new Map<string, Entry>();
  /** Sessions that went down with their browser, until they are opened afresh. */
  const lost = new Set<string>();
  let chromium: Promise<Chromium> | undefined;
  let made = 0;
  let mayComeBack = false;
  let closed = false;

  async function connect(): Promise<Chromium> {
    const until = Date.now() + (mayComeBack ? COMEBACK_MS : 0);
    for (;;) {
      try {
        const endpoint = await findEndpoint(settings, AbortSignal.timeout(CONNECT_MS));
        const browser = await connectChromium(endpoint);
        mayComeBack = true;
        void browser.ended.then(browserEnded);
        return browser;
      } catch (error) {
        if (Date.now() >= until) {
          mayComeBack = false;
          throw error;
        }
      }
      await pause(COMEBACK_PAUSE_MS);
    }
  }

  function browserEnded(): void {
    chromium = undefined;
    for (const [name, entry] of entries) {
      clearTimeout(entry.idle);
      if (!closed) lost.add(name);
      entry.session.then((session) => session.dispose()).catch(() => {});
    }
    entries.clear();
  }

  async function make(name: string): Promise<Session> {
    const browser = await (chromium ??= connect().catch((error: unknown) => {
      chromium = undefined;
      throw error;
    }));
    const context = await browser.newContext();
    await context.newPage();
    return new Session(name, `s${++made}`, { context, chromium: browser, cli });
  }

  function enter(name: string, create: boolean): Entry {
    const known = entries.get(name);
    if (known) return known;
    if (!create) throw missing(name);
    if (entries.size >= settings.maxSessions) throw tooMany();
    const entry: Entry = { session: make(name), using: 0, usedAt: Date.now() };
    entry.session.then(
      () => lost.delete(name),
      () => entries.get(name) === entry && entries.delete(name),
    );
    entries.set(name, entry);
    return entry;
  }

  function missing(name: string): ToolError {
    if (lost.has(name)) return pageCrashed(name, 'the browser was restarted');
    return new ToolError('not_found', `Session "${name}" has no page open.`, {
      hint: `Call open with a url first. A session is closed after ${settings.idleSeconds} s without a call.`,
    });
  }

  function tooMany(): ToolError {
    const oldest = Math.min(...[...entries.values()].map(({ usedAt }) => usedAt));
    const freeIn = Math.ceil((oldest - Date.now()) / 1000) + settings.idleSeconds;
    return new ToolError(
      'rate_limited',
      `${settings.maxSessions} browser sessions are open, which is the most at a time: ${[...entries.keys()].join(', ')}.`,
      { hint: 'Use one of them, or close one.', retryAfterSeconds: Math.max(1, freeIn) },
    );
  }

  async function end(name: string): Promise<void> {
    lost.delete(name);
    const entry = entries.get(name);
    if (!entry) return;
    clearTimeout(entry.idle);
    entries.delete(name);
    await entry.session.then((session) => session.dispose()).catch(() => {});
  }

  return {
    count: () => entries.size,

    async use(name, create, signal, work) {
      const entry = enter(name, create);
      clearTimeout(entry.idle);
      entry.using++;
      try {
        const session = await entry.session;
        return await session.inTurn(signal, () => work(session));
      } finally {
        entry.using--;
        entry.usedAt = Date.now();
        if (entry.using === 0 && entries.get(name) === entry) {
          entry.idle = setTimeout(() => void end(name), settings.idleSeconds * 1000).unref();
        }
      }
    },

    end,

    async close() {
      closed = true;
      await Promise.all([...entries.keys()].map((name) => end(name)));
      const browser = await chromium?.catch(() => undefined);
      browser?.close();
      await cli.close();
    },
  };
}
