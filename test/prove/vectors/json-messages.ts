import * as fc from 'fast-check';

export interface Message {
  body: string;
  headers: Record<string, string>;
}

const TOOLS = ['ssh_exec', 'mesh_status', 'fetch_external', 'code_search', 'snippet_kb', 'browser'];
const METHODS = [
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/read',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'tasks/get',
  'subscriptions/listen',
  'sampling/createMessage',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'rpc.discover',
];
const VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28', '1999-01-01', ''];
/** Names that mean something to an object of JavaScript. */
const NATIVE = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'toJSON',
  'length',
];

const word = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(...NATIVE, '', '\uD800', '\0'),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, 0, -0, 1.5, 1e21, -1, 2 ** 53, 5e-324, '', 'x'),
    word,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('any'), { maxLength: 4 }),
    entries(word, tie('any')),
  ),
})).any;

/** An object whose keys may be `__proto__` as well, as JSON.parse makes them. */
function entries(key: fc.Arbitrary<string>, of: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  return fc
    .array(fc.tuple(key, of), { maxLength: 5 })
    .map((pairs) => Object.fromEntries(pairs.map(([name, each]) => [name, each])));
}

/** Mostly the first, now and then anything. */
const mostly = <T>(usual: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: usual as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: value });

const id = fc.oneof(
  { weight: 4, arbitrary: fc.integer() as fc.Arbitrary<unknown> },
  { weight: 4, arbitrary: fc.string({ maxLength: 20 }) },
  { weight: 1, arbitrary: word },
  { weight: 1, arbitrary: fc.constantFrom(1.5, -0, 1e21, 2 ** 53 + 2, null, true, [], {}) },
);

/** What the tools know, with values that refuse themselves before anything is reached. */
const args = fc.record(
  {
    device: mostly(fc.constantFrom('web-1', 'laptop-1', 'nobody', '-oProxyCommand=x')),
    command: mostly(fc.constant('mkfs /dev/null')),
    url: mostly(fc.constantFrom('https://evil.example/', 'file:///etc/passwd', 'http://127.0.0.1:3000/')),
    action: mostly(fc.constantFrom('list', 'search', 'delete', 'none')),
    query: value,
    timeout_seconds: value,
    job: value,
  },
  { requiredKeys: [] },
);

const meta = fc.record(
  {
    progressToken: mostly(fc.integer()),
    'io.modelcontextprotocol/protocolVersion': mostly(fc.constantFrom(...VERSIONS)),
    'io.modelcontextprotocol/clientInfo': mostly(fc.constant({ name: 'generated', version: '1' })),
    'io.modelcontextprotocol/clientCapabilities': mostly(fc.constant({})),
  },
  { requiredKeys: [] },
);

const params = fc.record(
  {
    name: mostly(fc.constantFrom(...TOOLS, 'nothing', ...NATIVE)),
    arguments: mostly(fc.oneof(args, entries(word, value))),
    _meta: mostly(meta),
    protocolVersion: mostly(fc.constantFrom(...VERSIONS)),
    capabilities: mostly(fc.constant({})),
    clientInfo: mostly(fc.constant({ name: 'generated', version: '1' })),
    cursor: value,
    requestId: id,
  },
  { requiredKeys: [] },
);

const message = fc
  .tuple(
    fc.record(
      {
        jsonrpc: mostly(fc.constant('2.0')),
        id,
        method: mostly(fc.constantFrom(...METHODS)),
        params: mostly(params),
      },
      { requiredKeys: ['jsonrpc', 'method'] },
    ),
    fc.oneof(
      { weight: 6, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: entries(word, value) },
      { weight: 1, arbitrary: fc.record({ result: value, error: value }, { requiredKeys: [] }) },
    ),
  )
  .map(([known, extra]) => ({ ...known, ...extra }));

/** A text as a bad line leaves it: cut, with a piece doubled, or with another character in it. */
const damage = fc.tuple(
  fc.constantFrom('cut', 'double', 'replace'),
  fc.nat(),
  fc.nat(40),
  fc.string({ maxLength: 3 }),
);

function damaged(text: string, [how, seed, length, other]: [string, number, number, string]): string {
  const at = seed % (text.length + 1);
  if (how === 'cut') return text.slice(0, at);
  if (how === 'double') return text.slice(0, at + length) + text.slice(at);
  return text.slice(0, at) + other + text.slice(at + 1);
}

/** Half of a surrogate pair cannot be sent as it is. */
const sendable = (text: string): string => Buffer.from(text).toString();

const visible = fc.stringMatching(/^[!-~]([ -~]{0,14}[!-~])?$/);
const headers = fc.record(
  {
    accept: fc.oneof(
      fc.constantFrom('application/json', 'application/json, text/event-stream', '*/*', 'text/html'),
      visible,
    ),
    'mcp-protocol-version': fc.oneof(fc.constantFrom(...VERSIONS.filter(Boolean)), visible),
    'mcp-method': fc.oneof(fc.constantFrom(...METHODS), visible),
    'mcp-name': fc.oneof(fc.constantFrom(...TOOLS), visible),
    'mcp-session-id': visible,
    'last-event-id': visible,
    'user-agent': visible,
  },
  { requiredKeys: [] },
);

/**
 * Messages of JSON-RPC as clients of either era might send them, most of them with something wrong. What went wrong
 * elsewhere: an id of a shape nobody thought of that is lost or that ends the process, parameters whose names are
 * those of the prototype, headers and bodies that contradict each other.
 */
export const generatedMessage: fc.Arbitrary<Message> = fc
  .tuple(
    fc.oneof(
      { weight: 12, arbitrary: message as fc.Arbitrary<unknown> },
      { weight: 1, arbitrary: fc.array(message, { maxLength: 6 }) },
      { weight: 1, arbitrary: value },
    ),
    fc.option(damage, { freq: 5 }),
    fc.oneof(fc.constant({}), headers),
    fc.constantFrom('application/json', 'application/json; charset=utf-8', 'application/json', 'text/plain'),
  )
  .map(([content, how, own, type]) => {
    const text = JSON.stringify(content);
    return {
      body: how === null ? text : sendable(damaged(text, how)),
      headers: { 'content-type': type, ...own },
    };
  });
