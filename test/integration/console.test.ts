import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { MESH_KEY, SECRET, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ SSH_BLOCKED_COMMANDS: 'rm -rf', DRY_RUN: 'true' });
});
afterAll(() => server.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(server.base + path, { headers, redirect: 'manual' });
const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(server.base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(form).toString(),
    redirect: 'manual',
  });

/** Signs in as a browser does; the Cookie header to go on with. */
async function signedIn(): Promise<Record<string, string>> {
  const response = await get(`/console?token=${SECRET}`);
  return { cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '' };
}
const formToken = (page: string) => /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? '';
const sectionOf = (page: string, id: string) =>
  page.split('<section').find((part) => part.startsWith(` id="${id}"`) || part.startsWith(`\n id="${id}"`)) ??
  page;

// Tokens in addresses end up in histories, bookmarks, screenshots and Referer headers.
describe('signing in', () => {
  it('moves the secret out of the address into a cookie that does not hold it', async () => {
    const response = await get(`/console?token=${SECRET}&tool=browser`);
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('/console?tool=browser');
    const cookie = response.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^console_session=\d{10}\.[\w-]{22}\.[\w-]{43}; Max-Age=43200; Path=\/console; HttpOnly; SameSite=Strict$/,
    );
    expect(cookie).not.toContain(SECRET);
    expect(await response.text()).toBe('');
  });

  it('marks the cookie Secure behind HTTPS', async () => {
    const response = await get(`/console?token=${SECRET}`, { 'x-forwarded-proto': 'https' });
    expect(response.headers.get('set-cookie')).toMatch(/; Secure/);
  });

  it('shows the page to the cookie, and to the secret in a header', async () => {
    const headers: Record<string, string>[] = [
      await signedIn(),
      { authorization: `Bearer ${SECRET}` },
      { 'x-api-key': SECRET },
    ];
    for (const each of headers) {
      const response = await get('/console', each);
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('<h2 id="audit-title">Audit trail</h2>');
    }
  });

  it('goes by the form too, exactly as the secret is', async () => {
    const right = await post('/console', { token: SECRET }, { origin: server.base });
    expect([right.status, right.headers.get('location')]).toEqual([303, '/console']);
    expect(right.headers.get('set-cookie')).toContain('console_session=');
    for (const token of ['', 'x', `${SECRET} `, SECRET.toUpperCase()]) {
      const wrong = await post('/console', { token }, { origin: server.base });
      expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null]);
      expect(await wrong.text()).toContain('That is not the secret.');
    }
  });

  it.each([
    ['nothing', '/console', {}],
    ['a wrong token', '/console?token=wrong', {}],
    [
      'a made-up cookie',
      '/console',
      { cookie: `console_session=9999999999.${'a'.repeat(22)}.${'b'.repeat(43)}` },
    ],
    ['the secret as a cookie', '/console', { cookie: `console_session=${SECRET}` }],
    ['two different secrets', `/console?token=${SECRET}`, { 'x-api-key': 'other' }],
  ])('is asked for with %s: 401, and how to', async (_, path, headers) => {
    const response = await get(path, headers);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBeNull();
    const page = await response.text();
    expect(page).toContain('Open the console');
    expect(page).not.toContain('Audit trail</h2>');
  });

  it('is asked for again with a wrong token beside a good cookie', async () => {
    expect((await get('/console?token=wrong', await signedIn())).status).toBe(401);
  });

  it('asks once more after a link from another site, where browsers hold the cookie back', async () => {
    const response = await get('/console', { 'sec-fetch-site': 'cross-site' });
    expect([response.status, response.headers.get('refresh')]).toEqual([401, '0; url=/console']);
    expect((await get('/console', { 'sec-fetch-site': 'same-origin' })).headers.get('refresh')).toBeNull();
  });

  it('is in the audit log', async () => {
    await signedIn();
    expect(server.audit().at(-1)).toMatchObject({
      event: 'note',
      message: 'console: signed in',
      client: { name: 'node', ip: '127.0.0.1' },
    });
  });
});

describe('every answer of the console', () => {
  it.each([
    ['the page', '/console', true],
    ['the sign-in page', '/console', false],
    ['the redirect', `/console?token=${SECRET}`, false],
    ['what is renewed', '/console/live', true],
    ['the script', '/console/app.js', false],
    ['the styles', '/console/style.css', false],
  ])('has the protective headers: %s', async (name, path, cookie) => {
    const { headers } = await get(path, cookie ? await signedIn() : {});
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('x-frame-options')).toBe('DENY');
    if (!name.startsWith('the s')) expect(headers.get('cache-control')).toBe('no-store');
  });

  it('holds neither inline scripts nor inline styles nor foreign addresses', async () => {
    const page = await (await get('/console', await signedIn())).text();
    expect(page.match(/<script(?![^>]*src=)/g)).toBeNull();
    expect(page.match(/\sstyle=|<style|\son\w+=|javascript:/g)).toBeNull();
    expect(page.match(/(?:src|href)="https?:/g)).toBeNull();
  });

  it('is refused for what does not exist', async () => {
    const headers = await signedIn();
    expect((await get('/console/nothing', headers)).status).toBe(404);
    expect((await get('/console/live')).status).toBe(401);
  });
});

// Any page that the operator visits can send forms here; his browser adds the cookie by itself.
describe('a form', () => {
  it.each([
    ['of another site', { origin: 'https://evil.example' }, true],
    ['of a frame without origin', { origin: 'null' }, true],
    ['of another port', { origin: 'http://127.0.0.1:1' }, true],
    ['that a browser calls cross-site', { 'sec-fetch-site': 'cross-site' }, true],
    ['without the token', {}, false],
  ])('%s is refused', async (_, headers, withToken) => {
    const cookie = await signedIn();
    const token = formToken(await (await get('/console', cookie)).text());
    for (const path of ['/console/jobs/any/cancel', '/console/sign-out']) {
      const form = withToken ? { form_token: token } : { form_token: 'x' };
      const response = await post(path, form, { ...cookie, ...headers });
      expect([response.status, response.headers.get('set-cookie')]).toEqual([403, null]);
    }
    expect((await post('/console/sign-out', {}, cookie)).status).toBe(403);
  });

  it('of another site cannot sign anybody in', async () => {
    const response = await post('/console', { token: SECRET }, { origin: 'https://evil.example' });
    expect([response.status, response.headers.get('set-cookie')]).toEqual([403, null]);
  });

  it('of another session is refused', async () => {
    const [mine, other] = [await signedIn(), await signedIn()];
    const token = formToken(await (await get('/console', other)).text());
    expect((await post('/console/sign-out', { form_token: token }, mine)).status).toBe(403);
  });

  it('of the page itself is taken', async () => {
    const cookie = await signedIn();
    const token = formToken(await (await get('/console', cookie)).text());
    const own = { ...cookie, origin: server.base, 'sec-fetch-site': 'same-origin' };
    const nowhere = await post('/console/jobs/of-nowhere/cancel', { form_token: token }, own);
    expect([nowhere.status, nowhere.headers.get('location')]).toEqual([303, '/console?notice=ended#jobs']);
    const out = await post('/console/sign-out', { form_token: token }, own);
    expect([out.status, out.headers.get('location')]).toEqual([303, '/console']);
    expect(out.headers.get('set-cookie')).toMatch(/^console_session=; Max-Age=0; Path=\/console/);
  });

  it('without credentials gets nowhere, and a huge one is not read', async () => {
    expect((await post('/console/jobs/any/cancel', {})).status).toBe(401);
    expect((await post('/console', { token: 'x'.repeat(20_000) })).status).toBe(413);
  });
});

describe('the page', () => {
  // An audit log shows what attackers wrote: commands, addresses, names of clients.
  it('escapes what came from outside', async () => {
    const evil = '<script>alert(1)</script><img src=x onerror=alert(2)>"\'&';
    await server.call('ssh_exec', { device: evil, command: `rm -rf ${evil}` });
    await server.post(
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: evil, arguments: {} } },
      { 'user-agent': '<b>client</b>' },
    );
    const query = new URLSearchParams({ q: evil, notice: evil });
    for (const path of ['/console', `/console?${query.toString()}`]) {
      const page = await (await get(path, await signedIn())).text();
      expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
      expect(page).not.toContain('<script>alert');
      expect(page).not.toContain('<img');
      expect(page).not.toContain('<b>client');
    }
  });

  it('filters the audit trail', async () => {
    await server.call('mesh_status', { tag: 'tag:needle' });
    await server.call('ssh_exec', { device: 'web-1', command: 'rm -rf /needle' });
    const cookie = await signedIn();
    const tools = async (query: string) => {
      const page = sectionOf(await (await get(`/console?${query}`, cookie)).text(), 'audit');
      return [...page.matchAll(/<span class="main">(\w+)<\/span>/g)].map(([, tool]) => tool);
    };
    expect(await tools('q=NEEDLE')).toEqual(['ssh_exec', 'mesh_status']);
    expect(await tools('q=needle&outcome=blocked')).toEqual(['ssh_exec']);
    expect(await tools('q=needle&tool=mesh_status')).toEqual(['mesh_status']);
    expect(await tools('q=needle&tool=browser')).toEqual([]);
    expect(await tools('q=needle&page=99')).toEqual(['ssh_exec', 'mesh_status']);
    expect(await tools('q=needle&page=-1')).toEqual(['ssh_exec', 'mesh_status']);
  });

  it('hides every secret, and says where the rest came from', async () => {
    const page = await (await get('/console', await signedIn())).text();
    expect(page).not.toContain(SECRET);
    expect(page).not.toContain(MESH_KEY);
    expect(page).not.toContain('ghp_test1234567890');
    const rowOf = (name: string) =>
      page
        .split('<tr')
        .find((row) => row.includes(`>${name}<`))
        ?.replaceAll(/<[^>]+>|\s+/g, ' ')
        .replaceAll(/ +/g, ' ');
    expect(rowOf('MCP_SECRET')).toMatch(/MCP_SECRET set, hidden .* environment/);
    expect(rowOf('MCP_SECRET_PREVIOUS')).toMatch(/MCP_SECRET_PREVIOUS not set .* default/);
    expect(rowOf('SSH_BLOCKED_COMMANDS')).toMatch(/SSH_BLOCKED_COMMANDS rm -rf .* environment/);
    expect(rowOf('BROWSER_CDP_PORT')).toMatch(/BROWSER_CDP_PORT 9222 .* default/);
  });

  it('shows devices, checks, calls and that commands are not run', async () => {
    await server.call('mesh_status', {});
    const page = await (await get('/console', await signedIn())).text();
    expect(sectionOf(page, 'devices')).toMatch(/web-1[\s\S]*Online[\s\S]*laptop-1[\s\S]*Offline/);
    expect(sectionOf(page, 'health')).toMatch(/ssh key[\s\S]*Failing[\s\S]*no key/);
    expect(sectionOf(page, 'calls')).toMatch(/aria-label="Calls per minute in the last hour: \d+ in all/);
    expect(page).toContain('<span class="badge warn">Dry run</span>');
  });

  it('is renewed by what changed alone', async () => {
    const cookie = await signedIn();
    const live = async (have: string) => {
      const response = await get(`/console/live?have=${encodeURIComponent(have)}`, cookie);
      return ((await response.json()) as { parts: { id: string; hash: string; html: string }[] }).parts;
    };
    const all = await live('');
    expect(all.map(({ id }) => id)).toEqual([
      'status',
      'overview',
      'jobs',
      'calls',
      'devices',
      'health',
      'audit',
      'settings',
    ]);
    const have = all.map(({ id, hash }) => `${id}.${hash}`).join(',');
    await server.call('snippet_kb', { action: 'get' });
    const changed = await live(have);
    expect(changed.map(({ id }) => id)).toEqual(expect.arrayContaining(['calls', 'audit']));
    expect(changed.map(({ id }) => id)).not.toContain('settings');
    expect(changed.find(({ id }) => id === 'audit')?.html).toContain('snippet_kb');
  });
});

describe('CONSOLE_ENABLED=false', () => {
  it('leaves a plain 404 behind', async () => {
    const without = await startTestServer({ CONSOLE_ENABLED: 'false' });
    try {
      for (const path of [`/console?token=${SECRET}`, '/console', '/console/app.js', '/console/live']) {
        const response = await fetch(without.base + path);
        expect(response.status).toBe(404);
        expect(await response.json()).toEqual({ error: 'not_found', message: 'There is nothing here.' });
      }
    } finally {
      await without.close();
    }
  });
});
