import * as z from 'zod';

import type { CodeHost } from './client.ts';
import type { RateLimit } from './limits.ts';

export const SEARCH_KINDS = ['code', 'repositories', 'issues', 'commits'] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

const textMatches = z
  .array(
    z.looseObject({
      object_url: z.string().nullish(),
      property: z.string().nullish(),
      fragment: z.string(),
    }),
  )
  .nullish()
  .catch([]);
export type TextMatch = NonNullable<z.output<typeof textMatches>>[number];

const repository = z.looseObject({ full_name: z.string() });

const items = {
  code: z.looseObject({
    path: z.string(),
    /** The API's address of the content, whose `ref` is the commit that was searched. */
    url: z.string().nullish(),
    html_url: z.string(),
    repository,
    text_matches: textMatches,
  }),
  repositories: z.looseObject({
    full_name: z.string(),
    html_url: z.string(),
    description: z.string().nullish(),
    default_branch: z.string().nullish(),
    text_matches: textMatches,
  }),
  issues: z.looseObject({
    number: z.number(),
    title: z.string(),
    html_url: z.string(),
    repository_url: z.string(),
    pull_request: z.unknown().optional(),
    text_matches: textMatches,
  }),
  commits: z.looseObject({
    sha: z.string(),
    html_url: z.string(),
    commit: z.looseObject({ message: z.string() }),
    repository,
    text_matches: textMatches,
  }),
} satisfies Record<SearchKind, z.ZodType>;

type Items = { [Kind in SearchKind]: z.output<(typeof items)[Kind]> };

export interface SearchPage<Kind extends SearchKind> {
  total: number;
  incomplete: boolean;
  items: Items[Kind][];
  rateLimit: RateLimit | null;
}

/** One page of a search. @throws ToolError as `CodeHost.request` */
export async function search<Kind extends SearchKind>(
  codeHost: CodeHost,
  kind: Kind,
  { q, page, perPage, signal }: { q: string; page: number; perPage: number; signal: AbortSignal },
): Promise<SearchPage<Kind>> {
  const answer = z.looseObject({
    total_count: z.int(),
    incomplete_results: z.boolean().catch(false),
    items: z.array(items[kind] as unknown as z.ZodType<Items[Kind]>),
  });
  const { data, rateLimit } = await codeHost.request(
    {
      path: `/search/${kind}`,
      query: { q, page, per_page: perPage },
      accept: 'application/vnd.github.text-match+json',
      allowance: kind === 'code' ? 'code_search' : 'search',
      scope: 'repo',
      signal,
    },
    answer,
  );
  // Only a conditional request has an answer without data, and this is none.
  const { total_count: total = 0, incomplete_results: incomplete = false, items: found = [] } = data ?? {};
  return { total, incomplete, items: found, rateLimit };
}
