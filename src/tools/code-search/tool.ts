import * as z from 'zod';

import { defineTool, type Tool } from '../../core/tool.ts';
import { notAvailable } from '../not-available.ts';

const input = z.strictObject({
  query: z.string().min(1).max(256).describe('Words to find; the host’s own qualifiers work too.'),
  kind: z.enum(['code', 'repositories', 'issues', 'commits']).default('code').describe('What to search.'),
  repo: z.string().optional().describe('Only this repository, as owner/name.'),
  owner: z.string().optional().describe('Only this user or organisation.'),
  language: z.string().optional().describe('Only this programming language.'),
  path: z.string().optional().describe('Only files under this path; with kind code.'),
  page: z.int().min(1).default(1).describe('Page; only the first 1,000 results exist.'),
  per_page: z.int().min(1).max(100).default(10).describe('Results a page.'),
});

const output = z.object({
  total: z.int(),
  incomplete: z.boolean().describe('The host stopped early; narrow the query.'),
  items: z.array(
    z.object({
      repository: z.string(),
      path: z.string(),
      url: z.string(),
      ref: z.string().nullable(),
      matches: z.array(z.object({ fragment: z.string(), line: z.int().optional() })),
    }),
  ),
  rate_limit: z.object({ remaining: z.int(), resets_at: z.string() }).nullable(),
});

export function createCodeSearch(): Tool {
  return defineTool({
    name: 'code_search',
    title: 'Search the code host',
    description:
      'Searches code, repositories, issues or commits on the code host with the operator’s token (code: 10 searches a minute). ' +
      'Example: {"query":"createServer","repo":"me/app","language":"typescript"}.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    input,
    output,
    deadlineMs: () => 30_000,
    run: async () => notAvailable('code_search'),
  });
}
