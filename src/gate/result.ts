import type * as z from 'zod';

import type { AuditRecord } from '../audit/record.ts';
import { ToolError, messageOf } from '../core/errors.ts';
import { type ExtraContent, untrustedMark } from '../core/tool.ts';

/** What goes back to the MCP client for a tools/call. */
export interface CallResult {
  structuredContent: Record<string, unknown>;
  content: ({ type: 'text'; text: string } | ExtraContent)[];
  isError: boolean;
}

/**
 * `structuredContent`, the same JSON as the first text block, and whatever blocks the tool adds.
 * @param text that JSON, where it is there already
 */
export function callResult(
  structuredContent: Record<string, unknown>,
  isError = false,
  extra: ExtraContent[] = [],
  text = JSON.stringify(structuredContent),
): CallResult {
  return {
    structuredContent,
    content: [{ type: 'text', text }, ...extra],
    isError,
  };
}

/**
 * The structured form of a failure; the order of fields is the order a reader wants. Facts are what the outside
 * system said: the body of an answer, the output of a command, the text of a dialog.
 */
export function errorValue(error: ToolError): Record<string, unknown> {
  const { hint, retryAfterSeconds, facts } = error.details;
  return {
    error: {
      code: error.code,
      message: error.message,
      ...(hint !== undefined && { hint }),
      ...(retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds }),
      ...facts,
    },
    ...(facts !== undefined && { untrusted: untrustedMark(['error']) }),
  };
}

/** One `invalid_input` from everything a schema found, unknown names answered with the known ones. */
export function invalidInput(
  tool: string,
  schema: z.ZodObject,
  issues: readonly z.core.$ZodIssue[],
): ToolError {
  const known = Object.keys(schema.shape).join(', ');
  const sentences = issues.map((issue) => {
    const at = issue.path.join('.');
    if (issue.code === 'unrecognized_keys') {
      const where = at === '' ? '' : ` in ${at}`;
      return `unknown argument ${issue.keys.map((key) => `"${key.slice(0, 64)}"`).join(', ')}${where}`;
    }
    if (issue.code === 'invalid_type' && issue.input === undefined) return `"${at}" is missing`;
    return at === '' ? issue.message : `"${at}": ${issue.message}`;
  });
  return new ToolError(
    'invalid_input',
    `${tool} was called with invalid arguments: ${sentences.join('; ')}.`,
    {
      hint: `The arguments of ${tool} are: ${known}.`,
    },
  );
}

/** What the audit log says of a result. */
export function outcomeOf({
  isError,
  structuredContent,
}: CallResult): Pick<AuditRecord, 'outcome' | 'error_code' | 'job'> {
  if (!isError) {
    const { blocked, job } = structuredContent;
    return { outcome: blocked === true ? 'blocked' : 'ok', ...(typeof job === 'string' && { job }) };
  }
  const { error } = structuredContent as { error?: { code?: string } };
  return { outcome: 'error', ...(error?.code !== undefined && { error_code: error.code }) };
}

/** Anything that was thrown, as a failure of the contract. */
export function asToolError(error: unknown): ToolError {
  if (error instanceof ToolError) return error;
  return new ToolError('internal', `Unexpected failure: ${messageOf(error)}`, {
    hint: 'This is a fault of the server; its log has the details under the id of this call.',
    cause: error,
  });
}
