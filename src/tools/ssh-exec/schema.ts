import * as z from 'zod';

import { ToolError } from '../../core/errors.ts';

/** Linux takes 131,072 bytes for one argument of a program; the rest is room for `cd` and our own words. */
const LONGEST_COMMAND = 120 * 1024;
const LONGEST_CWD = 1024;
/** The policy reads stdin, so it has to stay readable in milliseconds. */
const LONGEST_STDIN = 1024 * 1024;
const DEFAULT_OUTPUT = 32 * 1024;
const LONGEST_OUTPUT = 256 * 1024;
const DEFAULT_TIMEOUT_SECONDS = 60;
const LONGEST_SECONDS = 3600;
const USER_NAME = /^[A-Za-z0-9_][A-Za-z0-9._@-]{0,63}$/;
/** The word that stands in the place of a job's id to ask for all of them. */
export const LIST = 'list';

export const input = z.strictObject({
  device: text(255).optional().describe('Name or mesh address.'),
  command: text(LONGEST_COMMAND).optional().describe('Needs device.'),
  user: z
    .string()
    .refine((name) => USER_NAME.test(name), 'expected a user name')
    .optional()
    .describe('Login; has a default.'),
  cwd: text(LONGEST_CWD).optional().describe('Default: the home.'),
  stdin: limited(LONGEST_STDIN).optional().describe('Standard input.'),
  timeout_seconds: atLeast(1, LONGEST_SECONDS)
    .default(DEFAULT_TIMEOUT_SECONDS)
    .describe('Ends command or job.'),
  max_output_bytes: atLeast(1, LONGEST_OUTPUT).default(DEFAULT_OUTPUT).describe('Per stream.'),
  wait_seconds: atLeast(0, LONGEST_SECONDS)
    .optional()
    .describe('Then it goes on as a job. With job: wait for news.'),
  dry_run: z.boolean().optional().describe('Only check and log.'),
  job: z
    .string()
    .refine((id) => id.length <= 64, 'it is too long for an id')
    .optional()
    .describe('Id to read new output of, or "list".'),
  cancel: z.boolean().optional().describe('End the job.'),
});

export type SshCall = z.output<typeof input>;

export const output = z.object({
  device: z.string(),
  address: z.string().nullable(),
  user: z.string(),
  command: z.string(),
  exit_code: z.number().nullable(),
  signal: z.string().nullable(),
  stdout: z.string(),
  stderr: z.string(),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
  duration_ms: z.number(),
  dry_run: z.boolean(),
  timed_out: z.boolean(),
  hint: z.string(),
  job: z.string(),
  running: z.boolean(),
  jobs: z.array(z.unknown()),
  blocked: z.boolean(),
  matched_rule: z.string(),
  reason: z.string(),
  path: z.string(),
});

const EXAMPLE = { hint: 'Example: {"device":"web-1","command":"uptime"}.' };
const OF_A_COMMAND = ['command', 'user', 'cwd', 'stdin'] as const;

/** What the schema cannot say: which arguments belong together. */
export function unusable(call: SshCall): ToolError | undefined {
  if (call.job !== undefined) {
    const given: string[] = OF_A_COMMAND.filter((name) => call[name] !== undefined);
    if (call.dry_run === true) given.push('dry_run');
    if (call.job === LIST && call.cancel === true) given.push('cancel');
    if (given.length === 0) return undefined;
    const message = `"job": "${call.job}" does not go together with ${named(given)}.`;
    return new ToolError('invalid_input', message, {
      hint: 'A job is read with job alone, or with wait_seconds, max_output_bytes and cancel. To run a command leave job out.',
    });
  }
  if (call.cancel === true) {
    return new ToolError('invalid_input', '"cancel" needs "job", the id of the job to end.', {
      hint: 'job "list" shows the ids.',
    });
  }
  const missing = (['device', 'command'] as const).filter((name) => call[name] === undefined);
  if (missing.length === 0) return undefined;
  return new ToolError('invalid_input', `ssh_exec needs ${named(missing)}.`, EXAMPLE);
}

function named(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(' and ');
}

/** The lower bound goes without saying, so tools/list does not say it. */
function atLeast(least: number, most: number): z.ZodNumber {
  return z
    .number()
    .max(most)
    .refine((value) => value >= least, `expected ${least} or more`);
}

/** A text of at least one character that can travel in a command line. */
function text(mostBytes: number): z.ZodString {
  return limited(mostBytes)
    .refine((value) => value !== '', 'it is empty')
    .refine((value) => !value.includes('\0'), 'it holds a NUL character, which no command line can');
}

function limited(mostBytes: number): z.ZodString {
  return z.string().refine((value) => Buffer.byteLength(value) <= mostBytes, {
    error: ({ input: value }) =>
      `${Buffer.byteLength(String(value)).toLocaleString('en')} bytes are too long; the limit is ${mostBytes.toLocaleString('en')}`,
  });
}
