import { expect } from 'vitest';
import { Hono } from 'hono';

import { type CodeHostOptions, createCodeHost } from '../../src/codehost/client.ts';
import { ToolError } from '../../src/core/errors.ts';
import { silentLog } from '../../src/core/log.ts';
import type { Tool } from '../../src/core/tool.ts';
import { type CodeHostStandinOptions, createCodeHostStandin } from '../standins/code-host.ts';
import { type StandinEnv, createControl } from '../standins/control.ts';
import { listen } from '../standins/listen.ts';

/** Worth nothing anywhere; `failureOf` looks for the part that all of them share. */
export const TOKENS = {
  full: 'ghp_full_0123456789abcdef',
  repoOnly: 'ghp_repo_0123456789abcdef',
  gistOnly: 'ghp_gist_0123456789abcdef',
  fineGrained: 'github_pat_0123456789abcdef',
  unknown: 'ghp_none_0123456789abcdef',
} as const;

/** The code host's stand-in, and clients of it. `now` is the clock of both. */
export async function startCodeHost(
  options: Partial<CodeHostStandinOptions> = {},
  path: '/' | '/api/v3' = '/',
) {
  const control = createControl();
  const clock = { ms: Date.parse('2026-11-20T12:00:00Z') };
  const now = options.now ?? (() => clock.ms);
  const api = createCodeHostStandin(
    {
      tokens: {
        [TOKENS.full]: { login: 'me', scopes: ['gist', 'repo'] },
        [TOKENS.repoOnly]: { login: 'me', scopes: ['repo'] },
        [TOKENS.gistOnly]: { login: 'me', scopes: ['gist'] },
        [TOKENS.fineGrained]: { login: 'me', permissions: [] },
        'someone-elses': { login: 'stranger', scopes: ['gist'] },
      },
      ...options,
      now,
    },
    control,
  );
  const { url, ...standin } = await listen(new Hono<StandinEnv>().route(path, api));
  const base = path === '/' ? url : `${url}${path}`;
  const clients: { close(): Promise<void> }[] = [];

  return {
    control,
    clock,
    url: base,
    host: new URL(url).host,
    codeHost(token: string = TOKENS.full, clientOptions: CodeHostOptions = {}) {
      const client = createCodeHost({ token, apiUrl: base }, { now, retryMs: 1, ...clientOptions });
      clients.push(client);
      return client;
    },
    /** `METHOD path` of every request since the last reset. */
    asked: () => control.requests('code_host').map(({ method, path: asked }) => `${method} ${asked}`),
    /** A request of another client, such as the code host's web page. */
    async elsewhere(method: string, at: string, body?: unknown, token: string = TOKENS.full): Promise<Json> {
      const response = await fetch(base + at, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return (response.status === 204 ? {} : await response.json()) as Json;
    },
    async close() {
      for (const client of clients) await client.close();
      await standin.close();
    },
  };
}

export type World = Awaited<ReturnType<typeof startCodeHost>>;

// oxlint-disable-next-line typescript/no-explicit-any -- the stand-in's answers, whose shapes the tests know
export type Json = any;

/** A call as the gate makes it: parsed, decided, run. */
export async function callTool(
  tool: Tool,
  input: object,
  { signal = new AbortController().signal, progress = (_message: string) => {} } = {},
): Promise<Json> {
  const parsed = tool.input.parse(input);
  const decision = tool.decide(parsed);
  if (decision.verdict === 'refuse') throw 'error' in decision ? decision.error : new Error(decision.rule);
  const context = {
    id: 'call-1',
    signal,
    dryRun: false,
    log: silentLog,
    progress,
    lateOutcome: async () => {},
  };
  return (await tool.run(parsed, context)).value;
}

/** The failure of a call, which must be a ToolError without a secret in it. */
export async function failureOf(call: Promise<unknown>): Promise<ToolError> {
  const error = await call.then(
    (value) => new Error(`expected a failure, got ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ToolError)) throw error;
  expect(JSON.stringify([error.message, error.details])).not.toMatch(/0123456789abcdef/);
  return error;
}
