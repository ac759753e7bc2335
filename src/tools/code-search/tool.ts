import * as z from 'zod';

import type { CodeHost } from '../../codehost/client.ts';
import { SEARCH_KINDS, search } from '../../codehost/search.ts';
import { defineTool, type Tool } from '../../core/tool.ts';
import { toItems } from './items.ts';
import { decideSearch, searchQuery } from './policy.ts';

// The rules for the filters' values are in policy.ts: as patterns here they would tell a model little.
const input = z.strictObject({
  query: z.string().trim().min(1).describe('Words; GitHub qualifiers work too.'),
  kind: z.enum(SEARCH_KINDS).default('code').describe('issues: add is:pr to query for pull requests.'),
  repo: z.string().optional().describe('As owner/name.'),
  owner: z.string().optional().describe('Only of this user.'),
  language: z.string().optional().describe('Programming language; not for commits.'),
  path: z.string().optional().describe('Only files under it; for code.'),
  page: z.int().min(1).default(1).describe('At most 1,000 results.'),
  per_page: z.int().min(1).max(100).default(10).describe('Results a page.'),
});

// `Item` in items.ts has all fields of a result; here a client needs the frame only.
const output = z.object({
  total: z.number(),
  incomplete: z.boolean(),
  items: z.array(
    z.looseObject({
      repository: z.string(),
      path: z.string(),
      url: z.string(),
      matches: z.array(z.unknown()),
    }),
  ),
  rate_limit: z.unknown(),
});

/** Search on the code host with the operator's token. */
export function createCodeSearch(codeHost: CodeHost): Tool {
  return defineTool({
    name: 'code_search',
    title: 'Search the code host',
    description:
      'Searches code (default branches; 10 searches a minute), repositories, issues or commits on the code host. Example: ' +
      '{"query":"createServer","repo":"me/app"}',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    input,
    output,
    untrusted: ['items'],
    deadlineMs: () => 30_000,
    decide: decideSearch,
    async run(asked, { signal }) {
      const { kind, page, per_page: perPage } = asked;
      const found = await search(codeHost, kind, { q: searchQuery(asked), page, perPage, signal });
      return {
        value: {
          total: found.total,
          incomplete: found.incomplete,
          items: toItems(kind, found).map((item) => ({ ...item })),
          rate_limit: found.rateLimit,
        },
      };
    },
  });
}
