import * as z from 'zod';

import { defineTool, type Tool } from '../../core/tool.ts';
import { notAvailable } from '../not-available.ts';
import type { BrowserSettings } from './settings.ts';

const ACTIONS = [
  'open',
  'snapshot',
  'click',
  'fill',
  'type',
  'press',
  'select',
  'hover',
  'scroll',
  'wait',
  'text',
  'screenshot',
  'pdf',
  'back',
  'forward',
  'reload',
  'tabs',
  'console',
  'eval',
  'close',
] as const;

const input = z.strictObject({
  action: z.enum(ACTIONS).describe('open, then snapshot for refs, then click/fill/… by ref.'),
  session: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,40}$/)
    .default('default')
    .describe('Sessions have their own pages and cookies.'),
  url: z.string().max(8192).optional().describe('http or https; for open.'),
  ref: z.string().max(500).optional().describe('Element: a ref from snapshot (e5) or a CSS selector.'),
  value: z.string().max(100_000).optional().describe('Text for fill, type; option for select.'),
  key: z.string().max(50).optional().describe('Key for press, e.g. Enter.'),
  direction: z.enum(['up', 'down', 'left', 'right']).optional().describe('For scroll.'),
  pixels: z.int().min(1).max(100_000).optional().describe('For scroll.'),
  wait_for: z.string().max(500).optional().describe('Text or selector to wait for; for wait.'),
  tab: z.string().max(64).optional().describe('Tab to switch to, from tabs.'),
  dialog: z.enum(['accept', 'dismiss']).optional().describe('Answers an open dialog first.'),
  full_page: z.boolean().default(false).describe('For screenshot.'),
  format: z.enum(['png', 'jpeg']).default('png').describe('For screenshot.'),
  script: z.string().max(100_000).optional().describe('JavaScript for eval, if the operator allows it.'),
  max_chars: z.int().min(100).max(100_000).default(20_000).describe('Most text to return.'),
  timeout_seconds: z.int().min(1).max(120).default(30).describe('Limit for the action.'),
});

const output = z.object({
  session: z.string(),
  url: z.string(),
  title: z.string(),
  snapshot: z.string().optional(),
  refs: z.record(z.string(), z.object({ role: z.string(), name: z.string() })).optional(),
  text: z.string().optional(),
  truncated: z.boolean().optional(),
  result: z.unknown().optional(),
  tabs: z
    .array(z.object({ tab: z.string(), url: z.string(), title: z.string(), active: z.boolean() }))
    .optional(),
  console: z.array(z.object({ level: z.string(), text: z.string() })).optional(),
  dialog: z.object({ type: z.string(), message: z.string() }).optional(),
});

export function createBrowser(_settings: BrowserSettings): Tool {
  return defineTool({
    name: 'browser',
    title: 'Drive a browser',
    description:
      'Drives a real headless browser on the server, for pages that need JavaScript, clicks or a login. ' +
      'Example: {"action":"open","url":"https://example.org"}, then {"action":"snapshot"}, then {"action":"click","ref":"e3"}.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    input,
    output,
    deadlineMs: ({ timeout_seconds }) => (timeout_seconds + 5) * 1000,
    run: async () => notAvailable('browser'),
  });
}
