import type { Response } from 'undici';

import { ToolError, systemCodeOf } from '../core/errors.ts';

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: URL;
  headers: Record<string, string>;
  body?: string;
  /** The most that is read of the answer, in bytes after decompression. */
  maxBytes: number;
  timeoutMs: number;
  /** Aborted when nobody waits for the answer any more; its reason is thrown as it is. */
  signal: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  headers: Response['headers'];
  body: Buffer;
}

/** Sends requests over connections that are kept open. */
export interface Http {
  /**
   * Redirects are not followed: they come back as answers.
   * @throws ToolError `timeout`, `connection_refused`, `upstream_error` or `too_large`, naming the host
   */
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

const MOST_CONNECTIONS = 8;
const IDLE_MS = 30_000;

export function createHttp(): Http {
  // With the first request: a start needs none of it.
  let client: ReturnType<typeof createClient> | undefined;
  return {
    async send({ method, url, headers, body, maxBytes, timeoutMs, signal }) {
      signal.throwIfAborted();
      const late = AbortSignal.timeout(timeoutMs);
      try {
        const { fetch, agent } = await (client ??= createClient());
        const response = await fetch(url, {
          method,
          headers,
          redirect: 'manual',
          dispatcher: agent,
          signal: AbortSignal.any([signal, late]),
          ...(body !== undefined && { body }),
        });
        return {
          status: response.status,
          headers: response.headers,
          body: await readBody(response, url, maxBytes),
        };
      } catch (error) {
        // The wait was ended by the caller, whose reason says why.
        signal.throwIfAborted();
        if (error instanceof ToolError) throw error;
        throw connectionError(url, error, late.aborted ? timeoutMs : undefined, method !== 'GET');
      }
    },
    // Not `close`, which would wait for an answer that may never come.
    close: async () => (await client)?.agent.destroy(),
  };
}

async function createClient() {
  const { Agent, fetch } = await import('undici');
  return { fetch, agent: new Agent({ connections: MOST_CONNECTIONS, keepAliveTimeout: IDLE_MS }) };
}

async function readBody(response: Response, { host }: URL, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the stream.
    if (bytes > maxBytes) {
      throw new ToolError('too_large', `${host} answered with more than ${maxBytes / 1024 / 1024} MiB.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

// Made from codes alone: a message of the library may hold header values, and so the token.
function connectionError(
  { host }: URL,
  error: unknown,
  timeoutMs: number | undefined,
  isWrite: boolean,
): ToolError {
  const unknown = 'It is not known whether the change was made: look before you repeat it.';
  const reach = 'Check CODE_HOST_API_URL, and that this machine reaches it.';
  if (timeoutMs !== undefined) {
    return new ToolError('timeout', `${host} did not answer within ${timeoutMs / 1000} s.`, {
      hint: isWrite ? unknown : reach,
      cause: error,
    });
  }
  const code = systemCodeOf(error) ?? 'no reason given';
  if (code === 'ECONNREFUSED') {
    return new ToolError('connection_refused', `Connection refused: nothing listens at ${host}.`, {
      hint: reach,
      cause: error,
    });
  }
  if (CLOSED.has(code)) {
    return new ToolError('upstream_error', `${host} closed the connection before its answer was complete.`, {
      hint: isWrite ? unknown : 'Try again.',
      cause: error,
    });
  }
  return new ToolError('upstream_error', `${host} could not be reached (${code}).`, {
    hint: reach,
    cause: error,
  });
}
