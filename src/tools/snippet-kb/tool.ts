import * as z from 'zod';

import type { CodeHost } from '../../codehost/client.ts';
import { createGists } from '../../codehost/gists.ts';
import type { Log } from '../../core/log.ts';
import { type CallContext, defineTool, type Tool } from '../../core/tool.ts';
import { type KnowledgeBase, createKnowledgeBase } from './knowledge-base.ts';
import { ACTIONS, type SnippetInput, decideSnippet } from './policy.ts';
import type { SnippetSettings } from './settings.ts';

// The rules for values and for which action takes what are in policy.ts.
const input = z.strictObject({
  action: z.enum(ACTIONS).describe('What to do.'),
  id: z.string().optional().describe('For get, update, delete.'),
  title: z.string().optional().describe('For create, update.'),
  tags: z.array(z.string()).optional().describe('For create, update; filter list, search.'),
  files: z
    .record(z.string(), z.string().nullable())
    .optional()
    .describe('Text by file name, for create, update; others stay; null deletes one.'),
  query: z.string().optional().describe('For search.'),
  expected_version: z.string().optional().describe('Version you read; update, delete fail if it changed.'),
  file: z.string().optional().describe('Only this one; for get.'),
  offset: z.int().min(0).optional().describe('Character of file to read on at.'),
  limit: z.int().min(1).max(100).default(20).describe('Most notes.'),
});

// `Note` in note.ts has all fields; here a client needs the frame only.
const note = z.looseObject({ id: z.string() });

const output = z.looseObject({ total: z.number(), notes: z.array(z.unknown()), note }).partial();

/**
 * The knowledge base: notes kept as marked secret gists, with full-text search.
 * @param now the wall clock, in milliseconds
 */
export function createSnippetKb(
  codeHost: CodeHost,
  settings: SnippetSettings,
  log: Log,
  now: () => number = Date.now,
): Tool {
  const base = createKnowledgeBase(createGists(codeHost), { all: settings.all, log, now });
  return defineTool({
    name: 'snippet_kb',
    title: 'Knowledge base of notes',
    description:
      'The operator’s notes (secret gists): search when they may have written it down, create to remember. ' +
      'Example: {"action":"search","query":"backup nas"}',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    input,
    output,
    untrusted: ['notes', 'note'],
    deadlineMs: () => 60_000,
    decide: decideSnippet,
    run: async (asked, context) => ({ value: await act(base, asked, context) }),
    close: () => base.close(),
  });
}

async function act(
  base: KnowledgeBase,
  asked: SnippetInput,
  context: CallContext,
): Promise<z.input<typeof output>> {
  // What an action needs is there: policy.ts has seen to it.
  const { action, id = '', title = '', tags = [], files = {}, query = '', limit } = asked;
  switch (action) {
    case 'list':
      return toFound(await base.list(tags, limit, context));
    case 'search':
      return toFound(await base.search(query, tags, limit, context));
    case 'get':
      return {
        note: { ...(await base.get(id, { file: asked.file || undefined, offset: asked.offset }, context)) },
      };
    case 'create':
      return { note: { ...(await base.create(title, tags, files as Record<string, string>, context)) } };
    case 'update': {
      const change = { title: asked.title || undefined, tags: asked.tags, files: asked.files };
      return { note: { ...(await base.update(id, change, asked.expected_version || undefined, context)) } };
    }
    case 'delete':
      break;
  }
  await base.remove(id, asked.expected_version || undefined, context);
  return { deleted: true };
}

function toFound({ notes, ...rest }: Awaited<ReturnType<KnowledgeBase['list']>>): z.input<typeof output> {
  return { ...rest, notes: notes.map((entry) => ({ ...entry })) };
}
