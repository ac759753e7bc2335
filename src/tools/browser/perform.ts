import { ToolError } from '../../core/errors.ts';
import type { ToolOutput } from '../../core/tool.ts';
import type { AgentBrowser, Step } from './agent-browser.ts';
import { type Act, pdf, screenshot } from './capture.ts';
import { commandsOf, isCss } from './commands.ts';
import { stepFailure } from './failures.ts';
import type { Page } from './page.ts';
import { readings, visible } from './readings.ts';
import type { BrowserInput, BrowserOutput, Tab } from './schema.ts';
import { type Session, WINDOW, rejectErrorPage } from './session.ts';

type Result = ToolOutput<BrowserOutput>;

/** Actions after which the page may be on its way elsewhere. */
const MOVING = new Set<BrowserInput['action']>([
  'open',
  'click',
  'fill',
  'type',
  'press',
  'select',
  'back',
  'forward',
  'reload',
  'eval',
]);
/** Actions that change nothing on the page, so that its title may be asked for meanwhile. */
const READING = new Set<BrowserInput['action']>(['snapshot', 'text', 'screenshot', 'pdf', 'console']);
/** The tool may lose sight of the page that it has just sent elsewhere, which is no failure. */
const TRAVELLING = new Set<BrowserInput['action']>(['back', 'forward', 'reload']);
/** What `wait` leaves of the call's limit for its own answer to arrive. */
const ANSWER_MS = 500;
const TOLD_MS = 500;

/** One action of a session, which has its turn. */
export async function perform(
  session: Session,
  input: BrowserInput,
  cli: AgentBrowser,
  signal: AbortSignal,
  refusePrivate: (url: URL) => Promise<void>,
): Promise<Result> {
  if (input.tab !== undefined) session.page = tabOf(session, input.tab);
  if (input.action === 'close' && session.page) await session.closePage(session.page);
  if (input.action === 'tabs' || input.action === 'close') {
    return { value: { ...describe(session, session.page, []), tabs: tabsOf(session) } };
  }

  const page = await session.usablePage(input.action === 'open');
  const notices: string[] = [];
  await answerDialog(page, input, notices);
  const before = new Set(session.context.pages());
  const timeoutMs = input.timeout_seconds * 1000;
  const what = input.action === 'open' ? `open ${input.url}` : `${input.action} on ${page.url}`;
  const shown = page.document;
  const from = page.url;
  let stopped: 'dialog' | 'closed' | undefined;
  const act: Act = async (commands, image) => {
    const outcome = await session.act(page, commands, { what, signal, timeoutMs, ...image });
    if (typeof outcome !== 'string') return succeeded(outcome, input, page, shown, refusePrivate);
    stopped = outcome;
    return [];
  };

  // Asked beforehand: the tool takes a selector that it cannot read for one that matches nothing, or succeeds.
  if (input.ref !== undefined && isCss(input.ref) && !(await page.reads(input.ref)))
    throw stepFailure(input.action, `"${input.ref}" is no valid selector`, page.url);
  const titled = READING.has(input.action) ? page.answers() : undefined;
  let steps: Step[] = [];
  let extra: Result['extra'];
  if (input.action === 'screenshot' || input.action === 'pdf') {
    rejectErrorPage(page);
    const captured = await (input.action === 'pdf'
      ? pdf(page.url, cli, act)
      : screenshot(input, WINDOW, cli, act));
    extra = captured.extra;
    notices.push(...captured.notices);
  } else {
    steps = await act(commandsOf(input, Math.max(timeoutMs - ANSWER_MS, ANSWER_MS)));
  }
  if (stopped === undefined) {
    // The tool heard of the new document by a connection of its own; ours may be behind on a busy machine, and the
    // answer would tell of the page before. Within a document there is no new one.
    const leaves = input.action === 'open' && !isWithin(from, new URL(input.url ?? from).href);
    // Nor is the blank document of a tab that was just made, which may be told of late.
    const arrived = leaves
      ? () => page.document !== shown && page.document?.url !== 'about:blank'
      : undefined;
    if (MOVING.has(input.action)) await session.settle(page, signal, arrived);
    else await (titled ?? page.answers());
    if (arrived?.() === false && !page.dialog && !page.gone) throw await session.lost(page, what);
    if (!page.closed) rejectErrorPage(page);
  }
  const opened = session.context.pages().filter((tab) => !before.has(tab));
  await Promise.all(opened.map((tab) => session.settle(tab, signal)));
  for (const tab of opened) notices.push(`A new tab opened: ${tab.name}, ${tab.url}`);
  if (page.closed) notices.push(`The tab ${page.name} closed itself.`);
  const current = page.closed ? session.page : page;
  return {
    value: { ...describe(session, current, notices), ...(stopped === undefined && readings(input, steps)) },
    ...(extra && { extra }),
  };
}

/** @throws ToolError `conflict` where a dialog is open that the call doesn't answer: nothing else would work */
async function answerDialog(page: Page, input: BrowserInput, notices: string[]): Promise<void> {
  if (!page.dialog) {
    if (input.dialog !== undefined) notices.push('No dialog was open.');
    return;
  }
  const { dialog } = page;
  if (input.dialog === undefined) {
    throw new ToolError(
      'conflict',
      `A ${dialog.type} dialog is open and blocks the page: ${dialog.message}`,
      {
        hint: 'Repeat the call with "dialog": "accept", "dismiss", or "accept:TEXT" for a prompt.',
        facts: { dialog: visible(dialog) },
      },
    );
  }
  const [answer, ...promptText] = input.dialog.split(':');
  await page.answerDialog(answer === 'accept', promptText.length > 0 ? promptText.join(':') : undefined);
  await page.answers();
}

/** Whether opening an address only moves to another place of the page that is shown. */
const isWithin = (page: string, opened: string): boolean =>
  opened.includes('#') && opened.split('#')[0] === page.split('#')[0];

function tabOf(session: Session, name: string): Page {
  const tabs = session.context.pages();
  const found = tabs.find((tab) => tab.name === name);
  if (found) return found;
  throw new ToolError('not_found', `Session "${session.name}" has no tab "${name}".`, {
    hint: `Its tabs are: ${tabs.map((tab) => tab.name).join(', ') || 'none'}.`,
  });
}

function tabsOf(session: Session): Tab[] {
  const active = session.page;
  const tabs = session.context.pages().map((page) => ({
    tab: page.name,
    url: page.url,
    title: page.title,
    active: page === active,
  }));
  return visible(tabs) as Tab[];
}

function describe(session: Session, page: Page | undefined, notices: string[]): BrowserOutput {
  const all = [...(page?.notices.splice(0) ?? []), ...(page?.downloads.splice(0) ?? []), ...notices];
  return visible({
    session: session.name,
    url: page?.url ?? '',
    title: page?.title ?? '',
    ...(page?.document?.status !== undefined && { status: page.document.status }),
    ...(page?.dialog && { dialog: page.dialog }),
    ...(all.length > 0 && { notices: all }),
  }) as BrowserOutput;
}

/** @throws ToolError of the first step that failed */
async function succeeded(
  steps: Step[],
  { action, url, ref, value }: BrowserInput,
  page: Page,
  shownBefore: Page['document'],
  refusePrivate: (url: URL) => Promise<void>,
): Promise<Step[]> {
  const failed = steps.find(({ success }) => !success);
  const error = failed?.error ?? 'no reason given';
  if (!failed || (TRAVELLING.has(action) && error.includes('Inspected target navigated'))) return steps;
  if (!error.includes('net::')) throw stepFailure(action, error, url ?? page.url, [ref, value]);

  // What the browser makes of a failed navigation is told apart, and a little later.
  const failure = () => (page.document === shownBefore ? undefined : page.document);
  const told = () => page.downloads.length > 0 || failure()?.netError !== undefined;
  await page.until(told, AbortSignal.timeout(TOLD_MS));
  const [download] = page.downloads.splice(0);
  if (download !== undefined) {
    throw new ToolError('upstream_error', download, {
      hint: 'The browser keeps no files; fetch_external fetches them from allowed domains.',
    });
  }
  // After redirects, that is.
  const failedUrl = failure()?.url ?? url ?? page.url;
  // Of HTTPS the browser tells only that the proxy opened no tunnel, not that it would not.
  if (error.includes('ERR_TUNNEL_CONNECTION_FAILED')) await refusePrivate(new URL(failedUrl));
  throw stepFailure(action, error, failedUrl);
}
