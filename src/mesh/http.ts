import * as z from 'zod';

import { ToolError, systemCodeOf } from '../core/errors.ts';

/** The bounds of one reading of the network, shared by all requests it takes. */
export interface ApiCall {
  /** Aborted when the time is up. */
  readonly signal: AbortSignal;
  /** What `signal` was made with, for the message. */
  readonly timeoutMs: number;
  /** The most that is read of an answer, in bytes after decompression. */
  readonly maxBytes: number;
}

export interface ApiRequest {
  url: URL;
  /** Value of the Authorization header; never part of a message. */
  authorization?: string;
  /** Sent by POST as a form; without it the request is a GET. */
  form?: URLSearchParams;
  /** What the operator should do after that status, in one sentence each. */
  hints: { unauthorized: string; forbidden: string; notFound: string };
}

const MOST_OF_AN_ERROR = 64 * 1024;
const DEFAULT_RETRY_SECONDS = 30;
const LONGEST_RETRY_SECONDS = 3600;

/**
 * Sends a request to a management API and reads its JSON answer.
 * @throws ToolError `auth_failed`, `missing_scope`, `not_found`, `rate_limited`, `timeout`, `too_large`,
 *   `connection_refused` or `upstream_error`; each names the API's host, none holds a credential
 */
export async function requestJson<T>(request: ApiRequest, answer: z.ZodType<T>, call: ApiCall): Promise<T> {
  const { host } = request.url;
  const body = await send(request, call);
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new ToolError('upstream_error', `${host} answered with something other than JSON.`, {
      hint: 'MESH_API_URL may point at a web page or a login portal instead of the management API.',
    });
  }
  const parsed = answer.safeParse(json);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join('.') || 'the top level';
  throw new ToolError('upstream_error', `${host} answered JSON of an unexpected shape (at ${where}).`, {
    hint: 'Check that MESH_PROVIDER names the kind of network that MESH_API_URL serves.',
  });
}

async function send(request: ApiRequest, call: ApiCall): Promise<string> {
  const { url, authorization, form } = request;
  try {
    const response = await fetch(url, {
      method: form ? 'POST' : 'GET',
      headers: { accept: 'application/json', ...(authorization !== undefined && { authorization }) },
      // A redirect would carry the key to wherever it points.
      redirect: 'manual',
      signal: call.signal,
      ...(form && { body: form }),
    });
    if (response.ok) return await readBody(response, call.maxBytes, () => tooLarge(url, call.maxBytes));
    throw await statusError(request, response);
  } catch (error) {
    throw error instanceof ToolError ? error : connectionError(url, error, call);
  }
}

/** Reads a body up to a size; beyond it, fails with `beyond` and lets go of the connection. */
async function readBody(response: Response, maxBytes: number, beyond: () => Error): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the stream.
    if (bytes > maxBytes) throw beyond();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge({ host }: URL, maxBytes: number): ToolError {
  return new ToolError('too_large', `${host} answered with more than ${maxBytes / 1024 / 1024} MiB.`);
}

async function statusError(request: ApiRequest, response: Response): Promise<ToolError> {
  const { url, hints } = request;
  const { status, headers } = response;
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    const location = headers.get('location') ?? '';
    const to = URL.canParse(location, url.href) ? new URL(location, url).host : 'an invalid address';
    return new ToolError(
      'upstream_error',
      `${url.host} answered ${status}, a redirect to ${to}, which is not followed: the API key would go along.`,
      { hint: 'Set MESH_API_URL to the address that answers the API itself.' },
    );
  }
  const said = `${url.host} answered ${status}${await reasonGiven(request, response)}.`;
  if (status === 401) {
    return new ToolError('auth_failed', `Authentication failed: ${said}`, { hint: hints.unauthorized });
  }
  if (status === 403) {
    return new ToolError('missing_scope', `Authentication failed: ${said}`, { hint: hints.forbidden });
  }
  if (status === 404) return new ToolError('not_found', said, { hint: hints.notFound });
  if (status === 429) {
    const retryAfterSeconds = retryAfter(headers.get('retry-after'));
    return new ToolError('rate_limited', said, {
      hint: `The mesh network’s API limits requests; ask again in ${retryAfterSeconds} s.`,
      retryAfterSeconds,
    });
  }
  return new ToolError('upstream_error', said, {
    ...(status >= 500 && { hint: 'The fault is on the side of the mesh network’s API; try again later.' }),
  });
}

const errorBody = z.object({ message: z.string() });

/** The API's own words for a failure, as ` (…)`, or nothing. */
async function reasonGiven(request: ApiRequest, response: Response): Promise<string> {
  const body = await readBody(response, MOST_OF_AN_ERROR, () => tooLarge(request.url, 1)).catch(() => '');
  let words = '';
  try {
    words = errorBody.parse(JSON.parse(body)).message;
  } catch {
    if (response.headers.get('content-type')?.startsWith('text/plain')) words = body;
  }
  const clean = withoutSecrets(words, request)
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim();
  return clean === '' ? '' : ` (${clean.slice(0, 200)})`;
}

/** An API, or something that answers in its place, may echo what it was sent. */
function withoutSecrets(words: string, { authorization, form }: ApiRequest): string {
  const credential = authorization?.split(' ').at(-1);
  const secrets = [
    credential,
    credential && Buffer.from(credential, 'base64').toString('utf8').replace(/:$/, ''),
    form?.get('client_secret'),
  ];
  return secrets.reduce((rest: string, secret) => (secret ? rest.replaceAll(secret, '…') : rest), words);
}

/** Seconds from a Retry-After header, which is a number of seconds or a date. */
export function retryAfter(header: string | null, now = Date.now()): number {
  if (header === null) return DEFAULT_RETRY_SECONDS;
  const seconds = /^\d+$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - now) / 1000);
  if (Number.isNaN(seconds)) return DEFAULT_RETRY_SECONDS;
  return Math.min(Math.max(seconds, 1), LONGEST_RETRY_SECONDS);
}

const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const UNRESOLVED = new Set(['ENOTFOUND', 'EAI_AGAIN']);

// Made from codes alone: fetch puts header values, and so the key, into some of its messages.
function connectionError({ host }: URL, error: unknown, call: ApiCall): ToolError {
  const hint = 'Check MESH_API_URL, and that this machine reaches it.';
  if (call.signal.aborted) {
    return new ToolError('timeout', `${host} did not answer within ${call.timeoutMs / 1000} s.`, { hint });
  }
  const code = systemCodeOf(error) ?? 'no reason given';
  if (code === 'ECONNREFUSED') {
    return new ToolError('connection_refused', `Connection refused: nothing listens at ${host}.`, { hint });
  }
  if (CLOSED.has(code)) {
    return new ToolError('upstream_error', `${host} closed the connection before its answer was complete.`);
  }
  if (UNRESOLVED.has(code)) {
    return new ToolError('upstream_error', `The name of ${host} does not resolve (${code}).`, { hint });
  }
  return new ToolError('upstream_error', `${host} could not be reached (${code}).`, { hint });
}
