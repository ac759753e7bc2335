import * as z from 'zod';

import { defineTool, type Tool } from '../../core/tool.ts';
import { notAvailable } from '../not-available.ts';
import type { FetchSettings } from './settings.ts';

const input = z.strictObject({
  url: z.string().max(8192).describe('http or https URL; its host must be on the operator’s allowlist.'),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET').describe('HTTP method.'),
  headers: z
    .record(z.string(), z.string())
    .optional()
    .describe('Request headers; credentials are added by the server.'),
  body: z.string().optional().describe('Request body as text; not with json.'),
  json: z.unknown().optional().describe('Request body as JSON; sets the content type.'),
  timeout_seconds: z.int().min(1).max(300).default(30).describe('Limit for the whole call.'),
  max_bytes: z.int().min(1).max(10_485_760).default(65_536).describe('Most bytes of body to return.'),
  offset: z.int().min(0).default(0).describe('Byte to start at, to read on where a body was cut.'),
  format: z
    .enum(['text', 'markdown', 'base64'])
    .default('text')
    .describe('markdown turns HTML into readable text.'),
});

const output = z.object({
  status: z.int(),
  url: z.string().describe('After redirects.'),
  headers: z.record(z.string(), z.string()),
  content_type: z.string().nullable(),
  body: z.string(),
  bytes: z.int().describe('Of the whole body as far as it was read.'),
  truncated: z.boolean(),
  redirects: z.array(z.string()),
  token_injected: z.boolean(),
  duration_ms: z.int(),
});

export function createFetchExternal(_settings: FetchSettings): Tool {
  return defineTool({
    name: 'fetch_external',
    title: 'Fetch from an allowed domain',
    description:
      'Calls an HTTP API or page on a domain the operator allowed, with the operator’s token added where one is set up. ' +
      'For other pages use browser. Example: {"url":"https://api.github.com/user"}.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    input,
    output,
    deadlineMs: ({ timeout_seconds }) => timeout_seconds * 1000,
    run: async () => notAvailable('fetch_external'),
  });
}
