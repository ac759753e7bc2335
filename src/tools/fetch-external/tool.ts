import * as z from 'zod';

import { ToolError } from '../../core/errors.ts';
import { defineTool, type Tool } from '../../core/tool.ts';
import { stripInvisible } from '../../core/visible-text.ts';
import { type Resolver, createEgress } from '../../net/egress.ts';
import { authFailure } from './auth-failure.ts';
import { decoded } from './encodings.ts';
import { connectionFailure } from './failures.ts';
import { ownHeaders } from './headers.ts';
import { createMarkdownConverter } from './markdown.ts';
import { readPage } from './page.ts';
import { createFetchPolicy, enforce } from './policy.ts';
import { createRedaction } from './redaction.ts';
import type { FetchSettings } from './settings.ts';
import { tokensOf } from './tokens.ts';
import { type WebAnswer, fetchWeb } from './web.ts';

const LONGEST_URL = 8192;

const input = z.strictObject({
  url: z
    .string()
    .describe('http(s) URL on an allowed host.')
    // One object is judged, pinned and fetched: two parsers, or one that parses twice, may see two hosts.
    .transform((text, context) => {
      if (text.length <= LONGEST_URL && URL.canParse(text)) return new URL(text);
      context.addIssue(`it is not an absolute URL of at most ${LONGEST_URL} characters`);
      return z.NEVER;
    }),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET').describe('HTTP method.'),
  headers: z.object({}).catchall(z.string()).optional().describe('Request headers.'),
  body: z.string().optional().describe('Text to send.'),
  json: z.unknown().optional().describe('JSON to send.'),
  timeout_seconds: z.number().min(1).max(300).default(30).describe('For the whole call.'),
  max_bytes: z.number().min(1).max(10_485_760).default(65_536).describe('Most to return.'),
  offset: z.number().optional().describe('To read on: bytes of the last call.'),
  format: z
    .enum(['text', 'markdown', 'base64'])
    .default('text')
    .describe('markdown: readable HTML; base64: binary.'),
});

const output = z.object({
  status: z.number(),
  url: z.string(),
  headers: z.looseObject({}),
  content_type: z.string().nullable(),
  body: z.string(),
  bytes: z.number(),
  truncated: z.boolean(),
  redirects: z.array(z.string()),
  token_injected: z.boolean(),
  duration_ms: z.number(),
});

export interface FetchExternalParts {
  settings: FetchSettings;
  /** Values by the name of the variable; only those that FETCH_EXTERNAL_TOKEN_MAP names are used. */
  secrets: ReadonlyMap<string, string>;
  /** Default: the system's resolver. */
  resolve?: Resolver;
  /** PEM of the authorities to trust instead of the system's. */
  ca?: string;
}

/** The gate's own deadline is a safety net: this tool's message says how far the call came. */
const MARGIN_MS = 5_000;
const BODYLESS = new Set([204, 205, 304]);

/** @throws ToolError `invalid_input` when a token cannot stand in a header */
export function createFetchExternal({ settings, secrets, resolve, ca }: FetchExternalParts): Tool {
  const policy = createFetchPolicy(settings);
  const tokens = tokensOf(settings.tokenMap, secrets);
  const redaction = createRedaction(tokens);
  const markdown = createMarkdownConverter();
  const egress = createEgress({
    vet: (url, address) => enforce(policy.address(url, address)),
    ...(resolve && { resolve }),
    ...(ca !== undefined && { ca }),
  });

  async function run(call: z.output<typeof input>, signal: AbortSignal, onBytes: (bytes: number) => void) {
    const started = performance.now();
    const body = call.json === undefined ? call.body : JSON.stringify(call.json);
    const kind = call.json !== undefined ? 'json' : call.body !== undefined ? 'text' : 'none';
    const answer = await fetchWeb(
      { url: call.url, method: call.method, headers: ownHeaders(call.headers ?? {}, kind), body },
      { egress, policy, tokens, redaction },
      signal,
    );
    const headers = headersOf(answer);
    const page = await pageOf(answer, call, signal, onBytes);
    const value = {
      status: answer.response.status,
      url: redaction.string(answer.url.href),
      headers,
      content_type: headers['content-type'] ?? null,
      ...page,
      redirects: answer.redirects.map(({ href }) => redaction.string(href)),
      token_injected: answer.tokenInjected,
      duration_ms: Math.round(performance.now() - started),
    };
    const failure = authFailure(answer, value);
    if (failure) throw failure;
    return value;
  }

  function headersOf({ response }: WebAnswer): Record<string, string> {
    return Object.fromEntries(
      Object.entries(response.headers).map(([name, value = '']) => {
        // Cookies hold commas of their own.
        const text = Array.isArray(value) ? value.join(name === 'set-cookie' ? '\n' : ', ') : value;
        return [redaction.string(name), stripInvisible(redaction.string(text))];
      }),
    );
  }

  async function pageOf(
    { response, url, method }: WebAnswer,
    call: z.output<typeof input>,
    signal: AbortSignal,
    onBytes: (bytes: number) => void,
  ) {
    if (method === 'HEAD' || BODYLESS.has(response.status)) {
      await response.body.dump({ limit: 0, signal }).catch(() => {});
      return { body: '', bytes: 0, truncated: false };
    }
    const header = (name: string) => [response.headers[name]].flat().join(', ') || undefined;
    const request = {
      format: call.format,
      offset: Math.floor(call.offset ?? 0),
      maxBytes: Math.floor(call.max_bytes),
      contentType: header('content-type'),
      url,
    };
    try {
      const content = decoded(response.body, header('content-encoding'));
      return await readPage(content, request, { redaction, markdown }, signal, onBytes);
    } catch (error) {
      signal.throwIfAborted();
      throw connectionFailure(url, method, error);
    }
  }

  return defineTool({
    name: 'fetch_external',
    title: 'Fetch a URL',
    description:
      'Calls an HTTP API or page on a domain the operator allowed, with the operator’s token where one is set up. ' +
      'Example: {"url":"https://api.github.com/user"}',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    input,
    output,
    untrusted: ['headers', 'body', 'redirects'],
    decide: (call) => policy.call(call),
    deadlineMs: ({ timeout_seconds: seconds }) => seconds * 1000 + MARGIN_MS,
    async run(call, context) {
      const deadline = new AbortController();
      let received: number | undefined;
      const timer = setTimeout(() => {
        deadline.abort(late(call.url, call.timeout_seconds, received));
      }, call.timeout_seconds * 1000);
      const signal = AbortSignal.any([context.signal, deadline.signal]);
      try {
        const value = await run(call, signal, (bytes) => {
          received = bytes;
        });
        return { value };
      } catch (error) {
        throw error instanceof ToolError ? withoutTokens(error, (text) => redaction.string(text)) : error;
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      await Promise.all([egress.close(), markdown.close()]);
    },
  });
}

function late({ hostname }: URL, seconds: number, received: number | undefined): ToolError {
  const message =
    received === undefined
      ? `${hostname} did not answer within ${seconds} s.`
      : `The answer of ${hostname} was not complete within ${seconds} s; ${received} bytes of its body had come.`;
  return new ToolError('timeout', message, {
    hint:
      received === undefined
        ? 'Raise timeout_seconds if the host is slow.'
        : 'Lower max_bytes to get its beginning, or raise timeout_seconds.',
  });
}

/** A message may name a URL of the server's making. */
function withoutTokens(error: ToolError, redact: (text: string) => string): ToolError {
  const { hint } = error.details;
  const details = { ...error.details, ...(hint !== undefined && { hint: redact(hint) }) };
  return new ToolError(error.code, redact(error.message), details);
}
