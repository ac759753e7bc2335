/** One POST /mcp: bytes and headers. */
export interface ProtocolRequest {
  what: string;
  body: string;
  headers: Record<string, string>;
}

const VERSION = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';
const ENVELOPE =
  `"${PREFIX}protocolVersion":"${VERSION}","${PREFIX}clientInfo":{"name":"c2","version":"1"},` +
  `"${PREFIX}clientCapabilities":{}`;
const REFUSED = '"name":"ssh_exec","arguments":{"device":"web-1","command":"rm -rf /"}';
const ALLOWED = '"name":"mesh_status","arguments":{"online_only":true}';

type Era = 'legacy' | 'modern';

interface Shape {
  era: Era;
  method: string;
  /** The fields of params in JSON, without _meta. */
  fields: string;
  tool?: string;
}

const SHAPES: Shape[] = (['legacy', 'modern'] as const).flatMap((era): Shape[] => [
  { era, method: 'tools/list', fields: '' },
  { era, method: 'tools/call', fields: REFUSED, tool: 'ssh_exec' },
  { era, method: 'tools/call', fields: ALLOWED, tool: 'mesh_status' },
  { era, method: 'ping', fields: '' },
  { era, method: 'server/discover', fields: '' },
]);

const metaOf = ({ era }: Shape) => (era === 'modern' ? ENVELOPE : undefined);
const joined = (...fields: (string | undefined)[]) => fields.filter((field) => field).join(',');
const paramsOf = (shape: Shape, meta = metaOf(shape), fields = shape.fields) =>
  `{${joined(fields, meta === undefined ? undefined : `"_meta":{${meta}}`)}}`;
const messageOf = (shape: Shape, params = paramsOf(shape), id = '1') =>
  `{"jsonrpc":"2.0","id":${id},"method":"${shape.method}","params":${params}}`;

function headersOf({ era, method, tool }: Shape): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'user-agent': 'differential/1',
    ...(era === 'modern' && { 'mcp-protocol-version': VERSION, 'mcp-method': method }),
    ...(era === 'modern' && tool !== undefined && { 'mcp-name': tool }),
  };
}

const IDS = [
  '0',
  '-0',
  '-1',
  '1.0',
  '1.5',
  '1e3',
  '9007199254740991',
  '9007199254740992',
  '1e400',
  'null',
  'true',
  '[]',
  '{}',
  '""',
  '"a b"',
  '"\\u00e9\\ud83d\\ude00"',
  '"\\ud800"',
  '"__proto__"',
  '"\\"},{"',
  `"${'x'.repeat(10_000)}"`,
];

const META = [
  '',
  '"progressToken":1',
  '"progressToken":"p"',
  '"progressToken":1.5',
  '"progressToken":null',
  '"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"',
  `"${PREFIX}related-task":{"taskId":"t"}`,
  `"${PREFIX}related-task":5`,
  `"${PREFIX}logLevel":"debug"`,
  `"${PREFIX}logLevel":"loud"`,
  `"${PREFIX}clientInfo":{"name":"c2","version":"1","title":"t","vendor":{"a":1}}`,
  `"${PREFIX}clientInfo":{"name":"c2"}`,
  `"${PREFIX}clientInfo":{"name":5,"version":"1"}`,
  `"${PREFIX}clientInfo":null`,
  `"${PREFIX}clientInfo":{"name":"other","version":"2"}`,
  `"${PREFIX}clientCapabilities":{"sampling":{},"roots":{"listChanged":true}}`,
  `"${PREFIX}clientCapabilities":[]`,
  `"${PREFIX}clientCapabilities":null`,
  `"${PREFIX}protocolVersion":"2025-06-18"`,
  `"${PREFIX}protocolVersion":"2099-01-01"`,
  `"${PREFIX}protocolVersion":20260728`,
  '"__proto__":{"progressToken":1}',
  '"vendor/key":"v"',
];

const FIELDS = [
  '"cursor":"c"',
  '"cursor":5',
  '"task":{"ttl":1}',
  '"inputResponses":{}',
  '"requestState":"s"',
  '"__proto__":{}',
  '"extra":1',
  '"name":"browser"',
  '"name":"nothing"',
  '"name":"constructor"',
  '"name":5',
  '"arguments":null',
  '"arguments":[]',
  '"arguments":"all"',
  '"arguments":{}',
  '"arguments":{"__proto__":{"device":"web-1"}}',
  '"arguments":{"onlin":true}',
  '"arguments":{"device":"a","device":"web-1"}',
];

const PARAMS = ['null', '[]', '"text"', '5', '{}', '{"_meta":null}', '{"_meta":[]}', '{"_meta":"m"}'];

const HEADERS: Record<string, string | undefined>[] = [
  ...[undefined, '2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', VERSION].map(
    (version) => ({ 'mcp-protocol-version': version }),
  ),
  ...['', '1999-01-01', '2099-01-01', ` ${VERSION}`, `${VERSION}, ${VERSION}`, 'x'.repeat(100)].map(
    (version) => ({ 'mcp-protocol-version': version }),
  ),
  ...[undefined, '', 'tools/list', 'tools/call', 'TOOLS/LIST', ' ping'].map((method) => ({
    'mcp-method': method,
  })),
  ...[undefined, '', 'ssh_exec', 'mesh_status', 'SSH_EXEC', '=?base64?c3NoX2V4ZWM=?=', '=?base64?%?='].map(
    (name) => ({ 'mcp-name': name }),
  ),
  ...[undefined, 'application/json', 'text/event-stream', '*/*', 'text/html'].map((accept) => ({ accept })),
  ...['application/json; charset=utf-8', 'APPLICATION/JSON', 'text/plain', undefined].map((type) => ({
    'content-type': type,
  })),
  { 'user-agent': undefined },
  { 'mcp-session-id': 'stale' },
  { 'last-event-id': '7' },
];

/** Requests beside the plain ones, each with one thing changed. */
export function requests(): ProtocolRequest[] {
  return SHAPES.flatMap((shape) => {
    const headers = headersOf(shape);
    const named = (what: string, body: string, own = headers): ProtocolRequest => ({
      what: `${shape.era} ${shape.method} ${shape.tool ?? ''}: ${what}`,
      body,
      headers: own,
    });
    return [
      ...plain(shape),
      ...IDS.map((id) => named(`id ${id.slice(0, 40)}`, messageOf(shape, undefined, id))),
      ...META.map((meta) =>
        named(`_meta + ${meta}`, messageOf(shape, paramsOf(shape, joined(metaOf(shape), meta)))),
      ),
      ...META.map((meta) => named(`_meta = ${meta}`, messageOf(shape, paramsOf(shape, meta)))),
      ...FIELDS.map((field) =>
        named(`params + ${field}`, messageOf(shape, paramsOf(shape, undefined, joined(shape.fields, field)))),
      ),
      ...PARAMS.map((params) => named(`params = ${params}`, messageOf(shape, params))),
      ...HEADERS.map((changed) => {
        const all = Object.entries({ ...headers, ...changed });
        const own = Object.fromEntries(
          all.filter((entry): entry is [string, string] => entry[1] !== undefined),
        );
        return named(`headers ${JSON.stringify(changed)}`, messageOf(shape), own);
      }),
      ...wrongMessages(shape).map((body) => named(body.slice(0, 60), body)),
    ];
  });
}

/** The requests that need no SDK, once for each era and method that has them. */
export function plainRequests(): ProtocolRequest[] {
  const of = {
    legacy: ['tools/list', 'tools/call', 'ping'],
    modern: ['tools/list', 'tools/call', 'server/discover'],
  };
  return SHAPES.filter(({ era, method }) => of[era].includes(method)).flatMap(plain);
}

function plain(shape: Shape): ProtocolRequest[] {
  return [
    {
      what: `${shape.era} ${shape.method} ${shape.tool ?? ''}: plain`,
      body: messageOf(shape),
      headers: headersOf(shape),
    },
  ];
}

function wrongMessages(shape: Shape): string[] {
  const { method } = shape;
  const params = paramsOf(shape);
  const good = messageOf(shape);
  return [
    `{"jsonrpc":"2.0","id":1,"method":"${method}"}`,
    `{"jsonrpc":"2.0","method":"${method}","params":${params}}`,
    `{"jsonrpc":"1.0","id":1,"method":"${method}","params":${params}}`,
    `{"jsonrpc":2.0,"id":1,"method":"${method}","params":${params}}`,
    `{"id":1,"method":"${method}","params":${params}}`,
    `{"jsonrpc":"2.0","id":1,"id":2,"method":"${method}","params":${params}}`,
    `{"jsonrpc":"2.0","id":1,"method":"nothing","method":"${method}","params":${params}}`,
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{},"params":${params}}`,
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params},"extra":1}`,
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params},"__proto__":{}}`,
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params},"result":{}}`,
    `{"jsonrpc":"2.0","id":1,"method":"${method.toUpperCase()}","params":${params}}`,
    `{"jsonrpc":"2.0","id":1,"method":"${method} ","params":${params}}`,
    `{"jsonrpc":"2.0","id":1,"method":5,"params":${params}}`,
    `{"jsonrpc":"2.0","id":1,"method":"initialize","params":${params}}`,
    `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":${params}}`,
    `{"jsonrpc":"2.0","method":"notifications/initialized","params":${params}}`,
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
    `{"jsonrpc":"2.0","id":1,"result":{}}`,
    `[${good}]`,
    `[${good},${good}]`,
    '[]',
    'null',
    '"text"',
    '5',
    '',
    good.slice(0, -1),
    `\uFEFF${good}`,
    ` \n${good}\n`,
  ];
}
