import { classifyInboundRequest, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';

import type { AuditClient } from '../audit/record.ts';
import { messageOf } from '../core/errors.ts';
import type { CallResult } from '../gate/result.ts';
import type { CallRequest, Gate } from '../gate/call.ts';

/** Answers one POST /mcp; see `McpEndpoint.handle`. */
export type Handle = (
  request: Request,
  body: unknown,
  client: AuditClient,
  gone?: boolean,
) => Promise<Response>;

type Era = 'legacy' | 'modern';

/** A request that has nothing in it but what its method needs. */
interface Plain {
  era: Era;
  id: string | number;
  method: string;
  /** For tools/call. */
  tool: string;
  arguments: Record<string, unknown> | undefined;
  /** What the client calls itself in the envelope of this request. */
  clientName: string | undefined;
}

const MODERN_VERSION = '2026-07-28';
const LEGACY_VERSIONS = new Set(SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version < MODERN_VERSION));
const METHODS: Record<Era, ReadonlySet<string>> = {
  legacy: new Set(['tools/call', 'tools/list', 'ping']),
  modern: new Set(['tools/call', 'tools/list', 'server/discover']),
};
const ENVELOPE = 'io.modelcontextprotocol/';
const MESSAGE_KEYS = new Set(['jsonrpc', 'id', 'method', 'params']);
const LISTING_KEYS = new Set(['_meta']);
const CALL_KEYS = new Set(['name', 'arguments', '_meta']);
const ENVELOPE_KEYS = new Set(
  ['protocolVersion', 'clientInfo', 'clientCapabilities'].map((key) => ENVELOPE + key),
);
const LONGEST_ENVELOPE = 2_048;
const MOST_ENVELOPES = 256;

/**
 * Answers the plain case without building a server of the SDK for it, which costs more than everything else
 * together. The SDK (`whole`) says each kind of answer once; from then on its words are repeated with the id of the
 * request, and around the results of the same gate. Whatever is not plain goes to the SDK: other methods, keys,
 * headers or envelopes than expected, odd ids, progress, unknown tools, malformed calls, batches, clients that are
 * gone. `short-cut.test.ts` compares both ways request by request.
 */
export function withShortCut(whole: Handle, gate: Gate, tools: ReadonlySet<string>): Handle {
  /** What the SDK said to tools/call, by era: what it adds to a result, as JSON. */
  const added = new Map<Era, string>();
  /** What it said to all else, by era and method, up to the id. As bytes: encoding a list takes longer than the rest. */
  const said = new Map<string, Buffer>();
  /** Envelopes that the SDK accepted, with the client's name in each. */
  const envelopes = new Map<string, { clientName: string | undefined }>();

  /** @returns undefined where the SDK has to look at the envelope, and does not take it */
  function acceptedEnvelope(request: Request, body: unknown, meta: Record<string, unknown>) {
    const key = JSON.stringify(meta);
    const known = envelopes.get(key);
    if (known || key.length > LONGEST_ENVELOPE || !hasOnly(meta, ENVELOPE_KEYS)) return known;
    const outcome = classifyInboundRequest({
      httpMethod: 'POST',
      protocolVersionHeader: MODERN_VERSION,
      mcpMethodHeader: request.headers.get('mcp-method') ?? '',
      body,
    });
    if (outcome.kind !== 'modern' || outcome.messageKind !== 'request') return undefined;
    if (outcome.classification.revision !== MODERN_VERSION) return undefined;
    const info = meta[`${ENVELOPE}clientInfo`] as { name: string } | undefined;
    if (envelopes.size >= MOST_ENVELOPES) envelopes.clear();
    const accepted = { clientName: info?.name };
    envelopes.set(key, accepted);
    return accepted;
  }

  function plainOf(request: Request, body: unknown): Plain | undefined {
    if (!isObject(body) || !hasOnly(body, MESSAGE_KEYS) || body['jsonrpc'] !== '2.0') return undefined;
    const { id, method, params } = body;
    if (typeof id !== 'string' && !Number.isSafeInteger(id)) return undefined;
    if (typeof method !== 'string' || (params !== undefined && !isObject(params))) return undefined;
    const isCall = method === 'tools/call';
    if (params !== undefined && !hasOnly(params, isCall ? CALL_KEYS : LISTING_KEYS)) return undefined;
    const name = params?.['name'];
    const args = params?.['arguments'];
    if (isCall) {
      if (typeof name !== 'string' || !tools.has(name)) return undefined;
      // The SDK's copy of the arguments leaves this key out.
      if (args !== undefined && (!isObject(args) || Object.hasOwn(args, '__proto__'))) return undefined;
    }
    const meta = params?.['_meta'];
    const version = request.headers.get('mcp-protocol-version');
    let era: Era = 'legacy';
    let clientName: string | undefined;
    if (meta === undefined) {
      if (version !== null && !LEGACY_VERSIONS.has(version)) return undefined;
    } else {
      era = 'modern';
      if (!isObject(meta) || version !== MODERN_VERSION) return undefined;
      if (request.headers.get('mcp-method') !== method) return undefined;
      if (isCall && request.headers.get('mcp-name') !== name) return undefined;
      const envelope = acceptedEnvelope(request, body, meta);
      if (!envelope) return undefined;
      ({ clientName } = envelope);
    }
    if (!METHODS[era].has(method)) return undefined;
    return {
      era,
      id: id as string | number,
      method,
      tool: name as string,
      arguments: args as Record<string, unknown> | undefined,
      clientName,
    };
  }

  /** Keeps what the SDK says in answer to a plain request. */
  async function learn({ era, method }: Plain, response: Response): Promise<Response> {
    if (response.status !== 200 || response.headers.get('content-type') !== 'application/json')
      return response;
    const text = await response.text();
    const { result } = JSON.parse(text) as { result?: Record<string, unknown> };
    if (result !== undefined) {
      const { content: _, structuredContent: __, isError: ___, ...rest } = result;
      if (method === 'tools/call') added.set(era, JSON.stringify(rest));
      else said.set(`${era} ${method}`, Buffer.from(untilId(`"result":${JSON.stringify(result)}`)));
    }
    return jsonResponse(text);
  }

  return async (request, body, client, gone = false) => {
    // The SDK does not begin a call whose client has gone while its request was read.
    const plain = gone ? undefined : plainOf(request, body);
    if (!plain) return whole(request, body, client);
    if (plain.method !== 'tools/call') {
      const words = said.get(`${plain.era} ${plain.method}`);
      if (words === undefined) return learn(plain, await whole(request, body, client));
      return jsonResponse(Buffer.concat([words, Buffer.from(`${JSON.stringify(plain.id)}}`)]));
    }
    const words = added.get(plain.era);
    if (words === undefined) return learn(plain, await whole(request, body, client));
    const { clientName } = plain;
    try {
      const caller = clientName === undefined ? client : { ...client, name: clientName };
      const result = await gate.call(new PlainCall(plain, caller, request));
      return jsonResponse(message(plain.id, `"result":${rendered(result, words)}`));
    } catch (error) {
      return jsonResponse(
        message(plain.id, `"error":${JSON.stringify({ code: -32603, message: messageOf(error) })}`),
      );
    }
  };
}

class PlainCall implements CallRequest {
  readonly tool: string;
  readonly arguments: unknown;
  readonly client: AuditClient;
  readonly #request: Request;

  constructor(plain: Plain, client: AuditClient, request: Request) {
    this.tool = plain.tool;
    this.arguments = plain.arguments;
    this.client = client;
    this.#request = request;
  }

  /** Made when it is asked for, which a call that is refused never does. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }

  /** A plain call is one whose client asked for no progress. */
  progress(): void {}
}

function message(id: string | number, outcome: string): string {
  return `${untilId(outcome)}${JSON.stringify(id)}}`;
}

const untilId = (outcome: string): string => `{${outcome},"jsonrpc":"2.0","id":`;

/** @param more an object in JSON, whose fields follow those of the result */
function rendered(result: CallResult, more: string): string {
  const own = JSON.stringify(result);
  return more === '{}' ? own : `${own.slice(0, -1)},${more.slice(1)}`;
}

/** Text or bytes, and plain headers: a Headers object would make the HTTP layer build a whole Response. */
function jsonResponse(body: string | Buffer<ArrayBuffer>): Response {
  return new Response(body, { status: 200, headers: { 'content-type': 'application/json' } });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasOnly(value: object, keys: ReadonlySet<string>): boolean {
  for (const key in value) if (!keys.has(key)) return false;
  return true;
}
