import * as z from 'zod';

import type { ApiAnswer, CodeHost } from './client.ts';
import { type GistText, gistTexts } from './gist-texts.ts';

const file = z.looseObject({
  filename: z.string(),
  type: z.string().nullish(),
  size: z.number().catch(0),
  raw_url: z.string().nullish(),
  /** Whether `content` is only a part; the API gives at most about 1 MB of a file. */
  truncated: z.boolean().nullish(),
  content: z.string().nullish(),
  /** "base64" for content that is no text; older servers leave it out. */
  encoding: z.string().nullish(),
});

const gistShape = {
  id: z.string(),
  /** Its id in the GraphQL API. */
  node_id: z.string().nullish(),
  description: z.string().nullish(),
  public: z.boolean(),
  html_url: z.string(),
  updated_at: z.string(),
  files: z.record(z.string(), file.nullable()),
};

/** A gist as a list shows it: without content and history. */
export const gistSummary = z.looseObject(gistShape);
export type GistSummary = z.output<typeof gistSummary>;

/** A gist in full. */
export const gist = z.looseObject({
  ...gistShape,
  /** True when there are more than the 300 files that the API lists. */
  truncated: z.boolean().nullish(),
  git_pull_url: z.string().nullish(),
  /** Newest first. */
  history: z.array(z.looseObject({ version: z.string() })).catch([]),
});
export type Gist = z.output<typeof gist>;
export type GistFile = z.output<typeof file>;

export const PER_PAGE = 100;

/** What a create or an update sends; a file that is null is deleted. */
export interface GistChange {
  description?: string;
  files?: Record<string, { content: string } | null>;
}

/** The account's gists. Every call fails with `missing_scope` for a classic token without `gist`. */
export interface Gists {
  /** One page of 100, newest first as a rule; `data` is undefined when it is unchanged since `etag`. */
  page(
    page: number,
    options: { etag?: string | undefined; since?: string; signal: AbortSignal },
  ): Promise<ApiAnswer<GistSummary[]>>;
  get(id: string, signal: AbortSignal): Promise<Gist>;
  /** Makes a secret gist. */
  create(change: GistChange, signal: AbortSignal): Promise<Gist>;
  update(id: string, change: GistChange, signal: AbortSignal): Promise<Gist>;
  remove(id: string, signal: AbortSignal): Promise<void>;
  raw(url: string, maxBytes: number, signal: AbortSignal): Promise<Buffer>;
  /** Texts of up to 50 gists in one request, by `node_id`; gists that are gone are left out. */
  texts(nodeIds: readonly string[], signal: AbortSignal): Promise<GistText[]>;
}

export function createGists(codeHost: CodeHost): Gists {
  const scope = 'gist';
  const pathOf = (id: string) => `/gists/${encodeURIComponent(id)}`;

  return {
    page: (page, { etag, since, signal }) =>
      codeHost.request(
        {
          path: '/gists',
          query: { per_page: PER_PAGE, page, ...(since !== undefined && { since }) },
          etag,
          scope,
          signal,
        },
        z.array(gistSummary),
      ),
    get: async (id, signal) => present(await codeHost.request({ path: pathOf(id), scope, signal }, gist)),
    create: async (change, signal) =>
      present(
        await codeHost.request(
          { method: 'POST', path: '/gists', body: { ...change, public: false }, scope, signal },
          gist,
        ),
      ),
    update: async (id, change, signal) =>
      present(
        await codeHost.request({ method: 'PATCH', path: pathOf(id), body: change, scope, signal }, gist),
      ),
    async remove(id, signal) {
      await codeHost.request({ method: 'DELETE', path: pathOf(id), scope, signal }, z.null());
    },
    texts: (nodeIds, signal) => gistTexts(codeHost, nodeIds, signal),
    raw: (url, maxBytes, signal) => codeHost.raw(url, { maxBytes, signal }),
  };
}

/** The data of a request that was not conditional, and so has some. */
function present<T>({ data }: ApiAnswer<T>): T {
  return data as T;
}
