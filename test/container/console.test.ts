import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { BrowserContextOptions, Page } from 'playwright-core';

import type { ConsoleParts } from '../../src/console/parts.ts';
import { type TestChromium, startChromium } from '../support/console-chromium.ts';
import { type DemoConsole, startDemoConsole } from '../support/console-demo.ts';
import { CONTRAST_FAULTS } from '../support/console-contrast.ts';
import { call, inside, stack } from '../support/stack.ts';
import { until } from '../support/until.ts';

const PHONE = { viewport: { width: 360, height: 740 } };
const entrance = `${stack.base}/console?token=${stack.secret}`;

let chromium: TestChromium;
beforeAll(async () => {
  // Caddy presents the certificates below its root, not the root itself.
  const authority = '/data/caddy/pki/authorities/local/intermediate.crt';
  chromium = await startChromium(await inside('caddy', `cat ${authority}`, '10002'));
  await chromium.reach(stack.base);
});
afterAll(() => chromium.close());

const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

/** A tab of its own, and what its page complained of: scripts that failed, and all that the CSP refused. */
async function tab(options: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[] }> {
  const context = await chromium.browser.newContext(options);
  ended.push(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, complaints };
}

async function demo(instead: Partial<ConsoleParts> = {}): Promise<DemoConsole> {
  const console = await startDemoConsole(instead);
  ended.push(() => console.close());
  await chromium.reach(console.base);
  return console;
}

const overflow = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

describe('through Caddy, in Chromium', () => {
  it('opens without a complaint, and leaves the secret nowhere in the browser', async () => {
    const { page, complaints } = await tab();
    await page.goto(entrance);
    expect(page.url()).toBe(`${stack.base}/console`);
    await page.getByRole('heading', { name: 'Audit trail' }).waitFor();
    const rows = page.getByRole('table', { name: 'Devices' }).getByRole('rowheader');
    expect((await rows.allInnerTexts()).map((text) => text.split('\n')[0])).toEqual([
      'db-1',
      'web-1',
      'laptop-1',
    ]);
    await page.getByText('Live', { exact: true }).waitFor();
    expect(complaints).toEqual([]);

    const [cookie, ...others] = await page.context().cookies();
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Strict', path: '/console' });
    expect(cookie?.value).not.toContain(stack.secret);
    expect(await page.content()).not.toContain(stack.secret);
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.goBack();
    expect(page.url()).toBe('about:blank');
  });

  it('shows a call as it happens, and keeps what is open and has the focus', async () => {
    const { page, complaints } = await tab();
    await call('mesh_status', { tag: 'tag:before' });
    await page.goto(`${entrance}&q=tag:`);
    const summary = page.locator('summary', { hasText: 'tag:before' });
    await summary.focus();
    await page.keyboard.press('Enter');
    await page.getByText('"tag": "tag:before"').waitFor();

    await call('mesh_status', { tag: 'tag:after' });
    await page.locator('summary', { hasText: 'tag:after' }).waitFor();
    expect(await page.getByText('"tag": "tag:before"').isVisible()).toBe(true);
    expect(await page.evaluate('document.activeElement.textContent')).toContain('tag:before');
    expect(page.url()).toBe(`${stack.base}/console?q=tag%3A`);
    expect(complaints).toEqual([]);
  });

  // Commands are written by a model that reads web pages: the trail shows what attackers chose.
  it('runs nothing of what a call brought with it', async () => {
    const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>';
    await call('ssh_exec', { device: 'web-1', command: `mkfs ${evil}` });
    const { page, complaints } = await tab();
    await page.goto(entrance);
    const summary = page.locator('summary', { hasText: evil });
    await summary.click();
    await page.locator('dd', { hasText: evil }).waitFor();
    await call('ssh_exec', { device: 'web-1', command: `mkfs again ${evil}` });
    await page.locator('summary', { hasText: `mkfs again ${evil}` }).waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('ends a job on its device', async () => {
    const started = await call('ssh_exec', { device: 'web-1', command: 'sleep 4321', wait_seconds: 1 });
    const { job } = started.structuredContent as { job: string };
    expect(await inside('web-1', 'pgrep -fx "sleep 4321" | wc -l')).toBe('1\n');
    const { page } = await tab();
    await page.goto(entrance);
    await page.getByRole('button', { name: 'Stop sleep 4321 on web-1' }).click();
    await page.getByText('The job was stopped.').waitFor();
    await until(
      'the command is gone',
      async () => (await inside('web-1', 'pgrep -fx "sleep 4321" | wc -l')) === '0\n',
    );
    const row = page.locator('table.jobs tr', { hasText: job });
    await row.getByText('Stopped').waitFor();
    await page.locator('summary', { hasText: `console: stop of job ${job} on web-1` }).waitFor();
  });

  it('opens from a link on another site', async () => {
    const { page } = await tab();
    await page.setContent(`<a href="${entrance}">console</a>`);
    await page.getByRole('link').click();
    await page.getByRole('heading', { name: 'Audit trail' }).waitFor();
    expect(page.url()).toBe(`${stack.base}/console`);
  });

  it('lets in by the form, and out by the button', async () => {
    const { page } = await tab(PHONE);
    await page.goto(`${stack.base}/console`);
    expect(await overflow(page)).toBe(0);
    await page.getByLabel('Shared secret').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('That is not the secret.').waitFor();
    await page.getByLabel('Shared secret').fill(stack.secret);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Shared secret').waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });
});

describe('without JavaScript', () => {
  it('everything can be read and filtered', async () => {
    await call('ssh_exec', { device: 'web-1', command: 'mkfs /dev/no-script' });
    const { page } = await tab({ javaScriptEnabled: false });
    await page.goto(entrance);
    await page.getByText('Reload to renew').waitFor();
    await page.getByLabel('Outcome').selectOption('blocked');
    await page.getByLabel('Text').fill('NO-SCRIPT');
    await page.getByRole('button', { name: 'Filter' }).click();
    const tools = page.locator('table.trail tbody tr');
    expect(await tools.count()).toBe(1);
    expect(await tools.innerText()).toMatch(/ssh_exec[\s\S]*mkfs \/dev\/no-script[\s\S]*Blocked/);
    await page.getByText('Server', { exact: true }).click();
    await page.getByText('MCP_SECRET', { exact: true }).waitFor();
  });

  it.each([true, false])('or with it (%s), a job is stopped by its button', async (javaScriptEnabled) => {
    const cancelled: string[] = [];
    const now = new Date().toISOString();
    const job = { id: 'j1', device: 'db-1', user: 'root', command: 'sleep 600', started_at: now };
    const rest = { exit_code: null, signal: null, timed_out: false };
    const { url } = await demo({
      jobs: {
        list: () => [
          { ...job, ...rest, cancelled: cancelled.length > 0, ended_at: cancelled.length > 0 ? now : null },
        ],
        cancel: async (id) => cancelled.push(id) > 0,
      },
    });
    const { page } = await tab({ javaScriptEnabled });
    await page.goto(url);
    await page.getByRole('button', { name: 'Stop sleep 600 on db-1' }).click();
    await page.getByText('The job was stopped.').waitFor();
    expect(cancelled).toEqual(['j1']);
    expect(await page.getByRole('button', { name: 'Stop sleep 600' }).count()).toBe(0);
  });
});

describe.each(['light', 'dark'] as const)('in the %s scheme', (colorScheme) => {
  it('every text stands out from what is behind it (WCAG AA)', async () => {
    const { url } = await demo();
    const { page } = await tab({ colorScheme });
    await page.goto(url);
    await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe(colorScheme === 'light' ? 'rgb(244, 245, 247)' : 'rgb(14, 18, 23)');
    expect(await page.evaluate(CONTRAST_FAULTS)).toEqual([]);
  });

  it('nothing is wider than a phone of 360 px', async () => {
    const { url } = await demo();
    for (const javaScriptEnabled of [true, false]) {
      const { page } = await tab({ ...PHONE, colorScheme, javaScriptEnabled });
      await page.goto(url);
      expect(await overflow(page)).toBe(0);
      for (const summary of await page.locator('summary').all()) await summary.click();
      expect(await overflow(page)).toBe(0);
    }
  });
});

describe('by keyboard and screen reader', () => {
  it('the first stop leads past the header, and every part has its name', async () => {
    const { url } = await demo();
    const { page } = await tab();
    await page.goto(url);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(page.url()).toMatch(/#main$/);
    const tree = await page.locator('body').ariaSnapshot();
    for (const name of [
      'banner',
      'main',
      'contentinfo',
      'region "Jobs"',
      'region "Audit trail"',
      'search "Audit',
    ]) {
      expect(tree).toContain(name);
    }
    expect(tree).toContain('columnheader "Outcome"');
    expect(tree).toContain('img "Calls per minute in the last hour: 203 in all, at most 9 in a minute"');
  });

  it('a phone’s lists are still tables', async () => {
    const { url } = await demo();
    const { page } = await tab(PHONE);
    await page.goto(url);
    expect(await page.getByRole('table', { name: 'Health checks' }).getByRole('row').count()).toBe(6);
  });

  it('the renewal can be paused, and says when it is over', async () => {
    const { base, url } = await demo();
    const { page } = await tab();
    await page.goto(url);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('status').getByText('Paused').waitFor();
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('status').getByText('Signed out: reload the page').waitFor();
    expect(page.url()).toBe(`${base}/console`);
  });
});
