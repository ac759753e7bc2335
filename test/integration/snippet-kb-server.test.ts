import { afterAll, beforeAll, expect, it } from 'vitest';

import { DEMO_GISTS, DEMO_REPOSITORIES } from '../standins/code-host-seed.ts';
import { type TestServer, startTestServer } from '../support/server.ts';
import { TOKENS, type World, startCodeHost } from './code-host-world.ts';

let world: World;
let server: TestServer;
beforeAll(async () => {
  world = await startCodeHost({
    tokens: { [TOKENS.full]: { login: 'demo', scopes: ['gist', 'repo'] } },
    gists: DEMO_GISTS,
    repositories: DEMO_REPOSITORIES,
    now: Date.now,
  });
  server = await startTestServer({ CODE_HOST_API_URL: world.url, CODE_HOST_TOKEN: TOKENS.full });
});
afterAll(async () => {
  await server.close();
  await world.close();
});

/** The last records of the audit log, without what differs from run to run. */
const audited = (count: number) =>
  server
    .audit()
    .slice(-count)
    .map(({ event, tool, decision, outcome, error_code: code }) =>
      [event, tool, decision, outcome, code].filter((part) => part !== undefined).join(' '),
    );

it('code_search: an answer, a refusal and an outside failure, each with its audit records', async () => {
  const answer = await server.call('code_search', { query: 'createServer', path: 'src/server' });
  expect(answer.isError).toBe(false);
  expect(answer.structuredContent).toMatchObject({
    total: 1,
    items: [{ repository: 'demo/app', path: 'src/server.ts' }],
  });
  expect(JSON.parse(answer.content[0]?.text ?? '')).toEqual(answer.structuredContent);
  expect(audited(2)).toEqual(['intent code_search allow', 'outcome code_search ok']);

  const refused = await server.call('code_search', { query: 'x', page: 200 });
  expect(refused.structuredContent.error?.code).toBe('invalid_input');
  expect(audited(1)).toEqual(['refused code_search refuse error invalid_input']);

  world.control.fail('code_host', { status: 401 });
  const failed = await server.call('code_search', { query: 'x' });
  expect(failed).toMatchObject({ isError: true, structuredContent: { error: { code: 'auth_failed' } } });
  expect(audited(2)).toEqual(['intent code_search allow', 'outcome code_search error auth_failed']);
});

it('snippet_kb: an answer, a refusal and an outside failure, each with its audit records', async () => {
  const answer = await server.call('snippet_kb', { action: 'search', query: 'backup nas' });
  expect(answer.structuredContent).toMatchObject({ total: 1, notes: [{ title: 'Backing up the NAS' }] });
  expect(audited(2)).toEqual(['intent snippet_kb allow', 'outcome snippet_kb ok']);

  const refused = await server.call('snippet_kb', { action: 'get' });
  expect(refused.structuredContent.error?.message).toBe('get needs id.');
  expect(audited(1)).toEqual(['refused snippet_kb refuse error invalid_input']);

  const note = (answer.structuredContent['notes'] as { id: string }[])[0];
  const stale = { action: 'update', id: note?.id, expected_version: 'old', title: 'x' };
  const conflict = await server.call('snippet_kb', stale);
  expect(conflict.structuredContent.error).toMatchObject({
    code: 'conflict',
    current_version: expect.stringMatching(/^[0-9a-f]{40}-[0-9a-f]{8}$/),
  });
  expect(audited(2)).toEqual(['intent snippet_kb allow', 'outcome snippet_kb error conflict']);
});

it('/health tells the token’s scopes', async () => {
  const response = await fetch(`${server.base}/health?verbose=1`, {
    headers: { authorization: `Bearer ${server.url.split('token=')[1]}` },
  });
  expect(await response.json()).toMatchObject({
    checks: { code_host: { ok: true, detail: 'token accepted, scopes: gist, repo' } },
  });
});

it('the token is in no output, answer or audit record', () => {
  expect(server.output() + server.auditText()).not.toContain('0123456789abcdef');
});
