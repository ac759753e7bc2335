import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { silentLog } from '../../src/core/log.ts';
import { createBrowser } from '../../src/tools/browser/tool.ts';
import { type Lab, startLab } from '../support/browser-lab.ts';
import { until } from '../support/until.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.stop());

const inChromium = (script: string) => lab.docker('exec', lab.container('chromium'), 'bash', '-c', script);
/** Ends Chromium's processes of a kind as the kernel does when memory is short. */
const kill = (pattern: string) =>
  inChromium(
    `for p in /proc/[0-9]*; do
       if tr '\\0' ' ' <"$p/cmdline" 2>/dev/null | grep -q -- '${pattern}'; then kill -9 "\${p#/proc/}"; fi
     done`,
    // Without its browser the shell may go down, too.
  ).catch(() => {});
const killRenderers = () => kill('^[^ ]*headless-shell --type=renderer');
const killBrowser = () => kill('^[^ ]*headless-shell --remote-debugging-port');

const daemons = async () => {
  const list = await lab.docker('top', lab.container('server'), '-o', 'pid,stat,args');
  return list.split('\n').filter((line) => line.includes('agent-browser') && !line.includes('Z')).length;
};
const tabs = () =>
  inChromium(
    'exec 3<>/dev/tcp/127.0.0.1/9223; printf "GET /json/list HTTP/1.0\\r\\nHost: 127.0.0.1\\r\\n\\r\\n" >&3; timeout 2 cat <&3 | grep -c "http://pages" || true',
  );

describe('pages that fail', () => {
  it('one that spins ends its call in time, and the session goes on with its cookies', async () => {
    await lab.open('/cookie?set=kept');
    await lab.open('/spin');
    const { value } = await lab.call({ action: 'click', ref: '#b', timeout_seconds: 2 });
    expect(value.error).toMatchObject({ code: 'timeout', message: expect.stringContaining('hang') });
    expect((await lab.open('/cookie')).value).toMatchObject({ title: 'Cookie' });
    expect((await lab.call({ action: 'text' })).value).toMatchObject({ text: 'who=kept' });
  });

  it('one that spins while it loads, likewise; other sessions don’t notice', async () => {
    await lab.open('/', 'other');
    const spinning = lab.call({ action: 'open', url: 'http://pages/spin-at-once', timeout_seconds: 3 });
    expect((await lab.open('/second', 'other')).value).toMatchObject({ title: 'Second' });
    expect((await spinning).value.error?.code).toBe('timeout');
    expect((await lab.open('/')).value).toMatchObject({ title: 'Home' });
  });

  it('one that never answers leaves the page before it usable', async () => {
    await lab.open('/');
    const { value } = await lab.call({ action: 'open', url: 'http://pages/never', timeout_seconds: 2 });
    expect(value.error).toMatchObject({ code: 'timeout' });
    expect((await lab.call({ action: 'text' })).value).toMatchObject({ title: 'Home' });
  });

  it('a tab that closes itself is told, and what is left is said', async () => {
    await lab.open('/opener', 'closing');
    await lab.call({ action: 'eval', value: 'window.open("/closer"); 0', session: 'closing' });
    const { value } = await lab.call({ action: 'click', ref: 'button', tab: 't2', session: 'closing' });
    expect(value).toMatchObject({ url: 'http://pages/opener', notices: ['The tab t2 closed itself.'] });
    await lab.call({ action: 'close', session: 'closing' });
  });

  it('one that opens tabs without end is closed, and at most 16 tabs are left', async () => {
    await lab.call({ action: 'open', url: 'http://pages/bomb/popups', session: 'storm', timeout_seconds: 5 });
    await until('the page that opens them is closed', async () => {
      const { value } = await lab.call({ action: 'tabs', session: 'storm' });
      const tabs = value['tabs'] as { tab: string }[];
      return tabs.length <= 16 && tabs.every(({ tab }) => tab !== 't1');
    });
    await lab.call({ action: 'close', session: 'storm' });
  });

  it('a renderer that is killed is page_crashed at once, and open mends it', async () => {
    await lab.open('/');
    const waiting = lab.call({ action: 'wait', value: 'never there', timeout_seconds: 60 });
    await until('the wait is under way', async () => (await daemons()) > 0);
    await killRenderers();
    expect((await waiting).value.error).toMatchObject({
      code: 'page_crashed',
      hint: 'Open the address again.',
    });
    expect((await lab.open('/second')).value).toMatchObject({ title: 'Second' });
  });

  it('names that do not resolve and ports where nothing listens are upstream errors', async () => {
    for (const url of ['http://no-such-name.invalid/', 'http://pages:8081/']) {
      expect((await lab.call({ action: 'open', url })).value.error).toMatchObject({ code: 'upstream_error' });
    }
  });

  it('a caller that goes away ends what it asked for', async () => {
    await lab.open('/');
    const gone = new AbortController();
    const waiting = lab.call({ action: 'wait', value: 'never there', timeout_seconds: 120 }, gone.signal);
    await until('the wait is under way', async () => (await daemons()) > 0);
    gone.abort();
    await expect(waiting).rejects.toThrow();
    expect((await lab.call({ action: 'text' })).value).toMatchObject({ title: 'Home' });
  });
});

describe('Chromium killed', () => {
  it('is back in use by the next call, 20 times of 20', async () => {
    const seconds: number[] = [];
    for (let round = 0; round < 20; round++) {
      expect((await lab.open('/')).isError).toBe(false);
      await killBrowser();
      const started = performance.now();
      expect((await lab.open('/second')).value).toMatchObject({ title: 'Second' });
      seconds.push((performance.now() - started) / 1000);
    }
    process.stdout.write(`kill -9 of Chromium: 20/20 back, slowest ${Math.max(...seconds).toFixed(1)} s\n`);
  });

  it('tells the sessions that lost their pages', async () => {
    await lab.open('/', 'lost');
    await killBrowser();
    await until('the loss is told', async () => {
      const { value } = await lab.call({ action: 'text', session: 'lost' });
      return value.error?.code === 'page_crashed';
    });
    expect((await lab.open('/', 'lost')).isError).toBe(false);
  });

  it('and gone for good it is connection_refused with the address', async () => {
    await lab.docker('stop', '--time', '2', lab.container('chromium'));
    const { value } = await lab.open('/');
    expect(value.error).toMatchObject({
      code: 'connection_refused',
      message: expect.stringMatching(/^Connection refused: no browser answers at ws:\/\/chromium:9222 /),
    });
    await lab.docker('start', lab.container('chromium'));
    await until('Chromium is back', async () => !(await lab.open('/')).isError);
  });
});

describe('nothing is left behind', () => {
  it('by 500 navigations: memory of the daemons and tabs stay', async () => {
    await lab.call({ action: 'close' });
    await lab.open('/');
    const kilobytes = async () => {
      const list = await lab.docker('top', lab.container('server'), '-o', 'pid,rss,args');
      const line = list.split('\n').find((entry) => entry.includes('agent-browser'));
      return Number(line?.trim().split(/\s+/)[1]);
    };
    for (let round = 0; round < 50; round++) await lab.open('/form');
    const before = await kilobytes();
    for (let round = 0; round < 450; round++) await lab.open(round % 2 === 0 ? '/' : '/form');
    const after = await kilobytes();
    process.stdout.write(`500 navigations: daemon ${before} → ${after} KiB\n`);
    expect(after - before).toBeLessThan(20_000);
  });

  it('by the end of a session, or of the server', async () => {
    await lab.open('/');
    expect(await daemons()).toBeGreaterThan(0);
    await lab.docker('stop', '--time', '15', lab.container('server'));
    await until('no tab is left', async () => (await tabs()) === '0');
    await lab.docker('start', lab.container('server'));
  });
});

describe('the tool is missing', () => {
  it('cli_not_found names what to install', async () => {
    const settings = {
      cdpHost: await lab.address('chromium', 'browser'),
      cdpPort: 9222,
      allowedPrivateHosts: ['pages'],
      maxSessions: 1,
      idleSeconds: 9,
      evalEnabled: false,
    };
    const tool = createBrowser(settings, '/nonexistent');
    const input = tool.input.parse({ action: 'open', url: 'http://pages/' });
    const signal = AbortSignal.timeout(60_000);
    const context = {
      id: 'x',
      signal,
      dryRun: false,
      log: silentLog,
      progress() {},
      lateOutcome: async () => {},
    };
    await expect(tool.run(input, context)).rejects.toMatchObject({
      code: 'cli_not_found',
      message: 'Tool not found: agent-browser is not installed on the server.',
      details: { hint: 'Install it on the server: npm i -g agent-browser@0.41.2' },
    });
    await tool.close();
  });
});
