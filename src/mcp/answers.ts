import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';

const INVALID_REQUEST = -32600;
/** JSON-RPC batching was removed by the revision of this date. */
const BATCHES_REMOVED = '2025-06-18';
const MOST_IN_BATCH = 50;

export function jsonRpcError(
  status: number,
  code: number,
  message: string,
  id: string | number | null,
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id }, { status });
}

/** For JSON that is not a JSON-RPC message. */
export function invalidRequest(body: unknown): Response {
  const { id } = typeof body === 'object' && body !== null ? (body as { id?: unknown }) : {};
  return jsonRpcError(
    400,
    INVALID_REQUEST,
    'Invalid Request: expected a JSON-RPC 2.0 object with "jsonrpc": "2.0", "method" and, for a request, "id".',
    typeof id === 'string' || typeof id === 'number' ? id : null,
  );
}

/** The refusal of a protocol version that no revision has, or undefined. Absent is fine: it means 2025-03-26. */
export function protocolVersionRefusal(request: Request, id: string | number): Response | undefined {
  const version = request.headers.get('mcp-protocol-version');
  if (version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return undefined;
  return jsonRpcError(
    400,
    -32000,
    `Bad Request: unsupported protocol version ${version.slice(0, 32)}; supported are ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`,
    id,
  );
}

/** The refusal of a batch that is empty, too long, or of a revision without batches, or undefined. */
export function batchRefusal(request: Request, batch: readonly unknown[]): Response | undefined {
  const version = request.headers.get('mcp-protocol-version');
  if (version !== null && version >= BATCHES_REMOVED) {
    return jsonRpcError(
      400,
      INVALID_REQUEST,
      `Invalid Request: protocol version ${version.slice(0, 32)} has no batches; send one JSON object.`,
      null,
    );
  }
  if (batch.length === 0 || batch.length > MOST_IN_BATCH) {
    return jsonRpcError(
      400,
      INVALID_REQUEST,
      `Invalid Request: a batch holds 1 to ${MOST_IN_BATCH} messages, not ${batch.length}.`,
      null,
    );
  }
  return undefined;
}
