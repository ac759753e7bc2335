import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Lab, startLab } from '../support/browser-lab.ts';

let lab: Lab;
let targets: string[];
beforeAll(async () => {
  lab = await startLab();
  const [server, chromium, egress, pages, host] = await Promise.all([
    lab.address('server', 'browser'),
    lab.address('chromium', 'browser'),
    lab.address('egress', 'browsing'),
    lab.address('pages', 'site'),
    lab.docker('network', 'inspect', 'bridge', '--format', '{{(index .IPAM.Config 0).Gateway}}'),
  ]);
  targets = [
    'http://hidden/',
    'http://hidden:3478/',
    `http://${pages}/`,
    `http://[::ffff:${pages}]/`,
    'http://server:3000/health',
    `http://${server}:3000/health`,
    'http://chromium:9222/json/version',
    `http://${chromium}:9222/json/version`,
    'http://127.0.0.1:9223/json/version',
    'http://localhost:9223/json/version',
    'http://[::1]:9223/json/version',
    'http://0.0.0.0:9223/json/version',
    'http://2130706433:9223/json/version',
    `http://${egress}:3128/`,
    'http://egress:3128/squid-internal-mgr/menu',
    'http://169.254.169.254/latest/meta-data/',
    'http://100.100.100.200/latest/meta-data/',
    'http://168.63.129.16/',
    'http://100.64.0.1/',
    `http://${host || '172.17.0.1'}/`,
    'http://private.test/',
    'http://both.test/',
  ];
});
afterAll(() => lab.stop());

/** What reached the site under a name that the operator did not allow, or by another protocol. */
const forbidden = async () =>
  (await lab.hits()).filter(
    (hit) => !/^(?:http|upgrade) (?:pages|127\.0\.0\.1|10\.213\.\d+\.200 \/hits)/.test(hit),
  );

const ALL_TRIED = `new Promise((done) => { const look = () => document.title.startsWith('tried')
  ? done(window.reached) : setTimeout(look, 100); look(); })`;

// A page under someone else's control has driven browsers behind a firewall to routers, metadata services and
// debugging ports (CVE-2025-9611 and its like). Chromium's only way out is a proxy that judges addresses.
describe('a hostile page', () => {
  it('reaches none of the forbidden targets by fetch, frame, socket, WebRTC or worker', async () => {
    const query = encodeURIComponent(JSON.stringify(targets));
    const url = `http://pages/hostile?targets=${query}`;
    // Hundreds of frames, sockets and workers: on a busy machine the page takes its time.
    const opened = await lab.call({ action: 'open', url, session: 'hostile', timeout_seconds: 120 });
    expect(opened.isError).toBe(false);
    const script = `new Promise((done) => { const look = () => document.title.startsWith('tried')
      ? done(window.reached) : setTimeout(look, 100); look(); })`;
    const { value } = await lab.call({
      action: 'eval',
      value: script,
      session: 'hostile',
      timeout_seconds: 90,
    });
    // The proxy's refusal can't be read by a page of another origin, so no fetch has an answer.
    expect(value['result']).toEqual([]);
    expect(value.title).toBe(`tried ${targets.length * 52}`);
    expect(await forbidden()).toEqual([]);
    await lab.call({ action: 'close', session: 'hostile' });
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21])(
    'target %i is not opened by URL, redirect or script, and each says so',
    async (index) => {
      const url = targets[index] ?? '';
      const opened = await lab.call({ action: 'open', url });
      expect(opened.value.error).toMatchObject({ code: refusalOf(url) });
      const redirected = await lab.open(`/to?url=${encodeURIComponent(url)}`);
      expect(redirected.value.error).toMatchObject({ code: refusalOf(url, true) });
      await lab.open('/');
      const script = `location.href = ${JSON.stringify(url)}`;
      const sent = await lab.call({ action: 'eval', value: script });
      expect(sent.value.error).toMatchObject({ code: refusalOf(url, true) });
      const shown = await lab.call({ action: 'text' });
      expect(shown.value.error).toMatchObject({ code: refusalOf(url, true) });
      expect(await forbidden()).toEqual([]);
    },
  );

  it('HTTPS is refused alike, also after a redirect', async () => {
    for (const url of [
      'https://127.0.0.1/',
      targets[2]?.replace('http:', 'https:') ?? '',
      'https://169.254.169.254/',
    ]) {
      expect((await lab.call({ action: 'open', url })).value.error?.code).toBe('address_not_allowed');
      const redirected = await lab.open(`/to?url=${encodeURIComponent(url)}`);
      expect(redirected.value.error?.code).toBe('address_not_allowed');
    }
  });

  it('other schemes are not opened', async () => {
    for (const url of [
      'file:///etc/passwd',
      'chrome://version',
      'view-source:http://pages/',
      'javascript:1',
      'data:text/html,x',
      'ftp://pages/',
    ]) {
      expect((await lab.call({ action: 'open', url })).value.error?.code).toBe('invalid_input');
    }
  });

  it('a popup to a forbidden address is refused when it is looked at', async () => {
    await lab.open('/', 'popup');
    await lab.call({ action: 'eval', value: 'window.open("http://hidden/"); 0', session: 'popup' });
    const { value } = await lab.call({ action: 'text', tab: 't2', session: 'popup' });
    expect(value.error?.code).toBe('address_not_allowed');
    await lab.call({ action: 'close', session: 'popup' });
  });

  it('a name that changes its answer between two look-ups leads nowhere', async () => {
    await lab.open('/');
    // A public address at the first look-up and the site's own ever after, with a time to live of 0.
    const script = `Promise.all(Array.from({ length: 100 }, (_, i) => {
      const url = 'http://flip' + i + '.test/';
      const ask = () => fetch(url, { mode: 'no-cors', signal: AbortSignal.timeout(3000) }).catch(() => {});
      return ask().then(ask).then(ask);
    })).then(() => 'done')`;
    const { value } = await lab.call({ action: 'eval', value: script, timeout_seconds: 110 });
    expect(value['result']).toBe('done');
    expect(await forbidden()).toEqual([]);
  });

  it('(the same page reaches what is allowed, so the test above can fail)', async () => {
    const query = encodeURIComponent(JSON.stringify(['http://pages/control']));
    await lab.open(`/hostile?targets=${query}`, 'hostile');
    const { value } = await lab.call({ action: 'eval', value: ALL_TRIED, session: 'hostile' });
    expect(value['result']).toEqual(['fetch http://pages/control 404']);
    const ways = (await lab.hits()).filter((hit) => hit === 'http pages /control').length;
    expect(ways).toBeGreaterThanOrEqual(10);
    expect(await lab.hits()).toContain('upgrade pages');
    // TURN by TCP comes through the proxy, so it is judged too; UDP has no way.
    expect(new Set(await forbidden())).toEqual(new Set(['tcp hidden']));
    await lab.call({ action: 'close', session: 'hostile' });
  });

  it('Chromium’s container has no other way out', async () => {
    const attempt = 'timeout 5 bash -c "exec 3<>/dev/tcp/$0/80" && echo connected || echo refused';
    const from = (service: string, address: string) =>
      lab.docker('exec', lab.container(service), 'bash', '-c', attempt.replace('$0', address));
    const site = await lab.address('pages', 'site');
    expect(await from('egress', site)).toBe('connected');
    expect(await from('chromium', site)).toBe('refused');
    expect(await from('chromium', '93.184.216.34')).toBe('refused');
  });
});

/** `upstream_error` where there is nothing to refuse: the proxy has no IPv6 here, and doesn't know the server's name. */
function refusalOf(url: string, byProxy = false): string {
  const unknown = url.includes('[::1]') || url.startsWith('http://server:');
  return byProxy && unknown ? 'upstream_error' : 'address_not_allowed';
}
