import * as z from 'zod';

import { defineTool, type Tool } from '../../core/tool.ts';
import { notAvailable } from '../not-available.ts';
import type { SnippetSettings } from './settings.ts';

const input = z.strictObject({
  action: z.enum(['list', 'search', 'get', 'create', 'update', 'delete']).describe('What to do.'),
  id: z.string().optional().describe('Note id; for get, update, delete.'),
  title: z.string().max(200).optional().describe('For create, update.'),
  tags: z.array(z.string().max(50)).max(20).optional().describe('For create, update; filters list, search.'),
  files: z
    .record(z.string(), z.string().nullable())
    .optional()
    .describe('File name to content; null deletes the file. For create, update.'),
  query: z.string().max(256).optional().describe('Words to find; for search.'),
  expected_version: z
    .string()
    .optional()
    .describe('Version from get; update and delete fail if it changed since.'),
  limit: z.int().min(1).max(100).default(20).describe('Most notes; for list, search.'),
});

const note = z.object({
  id: z.string(),
  title: z.string(),
  tags: z.array(z.string()),
  version: z.string().optional(),
  updated_at: z.string(),
  url: z.string(),
  excerpt: z.string().optional(),
  files: z.record(z.string(), z.string()).optional(),
});

const output = z.object({
  total: z.int().describe('For list, search.'),
  notes: z.array(note),
  note,
  deleted: z.boolean(),
});

export function createSnippetKb(_settings: SnippetSettings): Tool {
  return defineTool({
    name: 'snippet_kb',
    title: 'Knowledge base of notes',
    description:
      'The operator’s notes, kept as secret gists: search before answering what they may have written down, create to remember. ' +
      'Example: {"action":"search","query":"backup nas"}.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    input,
    output: output.partial(),
    deadlineMs: () => 60_000,
    run: async () => notAvailable('snippet_kb'),
  });
}
