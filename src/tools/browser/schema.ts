import * as z from 'zod';

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

// Each byte of this is in the assistant's context for good, so a description says only what the name doesn't.
export const input = z.strictObject({
  action: z.enum(ACTIONS).describe('What to do.'),
  session: z
    .string()
    .regex(/^[\w-]{1,40}$/)
    .default('default')
    .describe('Own tabs and cookies.'),
  tab: z.string().optional().describe('Tab to use (t2); with close, the one to close.'),
  url: z.string().optional().describe('For open.'),
  ref: z.string().optional().describe('Element: ref from snapshot (e5) or CSS selector.'),
  value: z
    .string()
    .optional()
    .describe(
      'fill, type: text. press: key (Control+a). select: option. scroll: "down 600". wait: text. eval: JavaScript.',
    ),
  dialog: z.string().optional().describe('First answers an open dialog: dismiss, accept or accept:TEXT.'),
  full_page: z.boolean().default(false).describe('For screenshot.'),
  format: z.enum(['png', 'jpeg']).default('png').describe('For screenshot.'),
  max_chars: z.int().min(100).max(100_000).default(20_000).describe('Cap on text.'),
  timeout_seconds: z.int().min(1).max(120).default(30).describe('Limit.'),
});

export type BrowserInput = z.output<typeof input>;

/** A tab; exactly one is active, the one that the next call acts on. */
export interface Tab {
  [field: string]: unknown;
  tab: string;
  url: string;
  title: string;
  active: boolean;
}

/** A line of the page's console, or with level `exception` an error that no script caught. */
export interface ConsoleLine {
  [field: string]: unknown;
  level: string;
  text: string;
}

const loose = z.looseObject({});

// What is in a tab, a console line or a dialog shows by itself, so the schema doesn't spell it out.
export const output = z.object({
  session: z.string(),
  url: z.string(),
  title: z.string(),
  status: z.int().optional(),
  snapshot: z.string().optional(),
  text: z.string().optional(),
  truncated: z.boolean().optional(),
  result: z.unknown().optional(),
  tabs: z.array(loose).optional(),
  console: z.array(loose).optional(),
  dialog: loose.optional(),
  notices: z.array(z.string()).optional(),
});

export type BrowserOutput = z.input<typeof output>;
