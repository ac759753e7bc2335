import { type LoadResult, jsonPost, load } from '../lib/load.ts';
import { SECRET } from '../lib/product.ts';

const HEADERS = { authorization: `Bearer ${SECRET}` };

/** A bench calls more often in a minute than any assistant may. */
export const UNLIMITED = {
  MAX_CALLS_PER_MINUTE: '0',
  MAX_CALLS_PER_MINUTE_BY_TOOL: JSON.stringify({
    ssh_exec: 0,
    mesh_status: 0,
    fetch_external: 0,
    snippet_kb: 0,
  }),
};

const bodyOf = (tool: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: tool, arguments: args },
});

/** One tools/call; resolves with its structured content, that of a failure included. */
export async function call(port: number, tool: string, args: object): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { ...HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify(bodyOf(tool, args)),
  });
  const text = await response.text();
  const { result } = JSON.parse(text) as { result?: { structuredContent?: Record<string, unknown> } };
  if (!result?.structuredContent) throw new Error(`${tool}: ${text.slice(0, 500)}`);
  return result.structuredContent;
}

/** The same call again and again, over so many connections. */
export function calls(
  port: number,
  tool: string,
  args: object,
  requests: number,
  connections = 1,
): Promise<LoadResult> {
  const request = jsonPost('/mcp', HEADERS, bodyOf(tool, args));
  return load({ port, request, connections, amount: { requests } });
}
