import type { Variant } from './edge-request.ts';

type Field = [name: string, value: string];

const SETTINGS = frame(4, 0, 0, Buffer.alloc(0));
const PREFACE = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), SETTINGS]);

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header field as HPACK's literal without indexing and without Huffman: any bytes, unlike a library's. */
function field([name, value]: Field): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

/** A string with its length, which is a prefix of seven bits and then seven more a byte. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const size: number[] = [];
  let rest = bytes.length - 127;
  if (rest < 0) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  for (size.push(127); rest >= 128; rest >>= 7) size.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...size, rest]), bytes]);
}

const HEADERS = (fields: readonly Field[], flags = 4): Buffer =>
  frame(1, flags, 1, Buffer.concat(fields.map(field)));
const DATA = (body: string, flags = 1): Buffer => frame(0, flags, 1, Buffer.from(body));

/**
 * HTTP/2 as a proxy turns it into HTTP/1. What went wrong elsewhere: a length that is not that of the frames, a
 * `transfer-encoding` that HTTP/2 does not have, line ends inside names and values, pseudo-headers given twice.
 */
export function h2Variants(secret: string, body: string): Variant[] {
  const smuggled = `POST /mcp?token=${secret} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const start: Field[] = [
    [':method', 'POST'],
    [':scheme', 'https'],
    [':authority', 'localhost'],
    [':path', '/mcp'],
  ];
  const type: Field = ['content-type', 'application/json'];
  const send = (name: string, ...frames: Buffer[]): Variant => ({
    kind: 'HTTP/2',
    name,
    parts: [Buffer.concat([PREFACE, ...frames])],
  });
  const ask = (name: string, fields: readonly Field[], data = body) =>
    send(name, HEADERS(fields), DATA(data));
  const replaced = (name: string, value: string): Field[] =>
    start.map((pair) => (pair[0] === name ? [name, value] : pair));
  return [
    ask('no credential', [...start, type]),
    ...[
      '*',
      '',
      'mcp',
      '//mcp',
      '/%6dcp',
      '/mcp HTTP/1.1\r\nX-Api-Key: x',
      '/mcp\0',
      'https://localhost/mcp',
      '/mcp\\',
      '/./mcp',
    ].map((path) => ask(`path ${JSON.stringify(path)}`, [...replaced(':path', path), type])),
    ...[
      'evil.example',
      '',
      'localhost:1',
      'localhost\r\nX-Api-Key: x',
      'user@localhost',
      'localhost/mcp',
    ].map((authority) =>
      ask(`authority ${JSON.stringify(authority)}`, [...replaced(':authority', authority), type]),
    ),
    ...['post', 'GET', 'CONNECT', 'POST /mcp HTTP/1.1\r\nX: y\r\n\r\nPOST', '', 'PRI'].map((method) =>
      ask(`method ${JSON.stringify(method)}`, [...replaced(':method', method), type]),
    ),
    ...['http', '', 'javascript', `https://localhost/mcp?token=${secret}`].map((scheme) =>
      ask(`scheme ${scheme.slice(0, 12)}`, [...replaced(':scheme', scheme), type]),
    ),
    ...start.map(([name], at) => ask(`without ${name}`, [...start.filter((_, other) => other !== at), type])),
    ...start.map((pair) => ask(`twice ${pair[0]}`, [...start, pair, type])),
    ask('a second path with the secret', [...start, [':path', `/mcp?token=${secret}`], type]),
    ask('a path after the headers', [...start.slice(0, 3), type, [':path', `/mcp?token=${secret}`]]),
    ask('an unknown pseudo-header', [...start, [':token', secret], type]),
    ask('an extended CONNECT', [...replaced(':method', 'CONNECT'), [':protocol', 'websocket'], type]),
    ask('a host that differs', [...start, ['host', 'evil.example'], type]),
    ask('transfer-encoding', [...start, type, ['transfer-encoding', 'chunked']], `0\r\n\r\n${smuggled}`),
    ask('connection', [...start, type, ['connection', 'x-api-key'], ['keep-alive', '1']]),
    ask('upgrade', [...start, type, ['upgrade', 'h2c']]),
    ask('te', [...start, type, ['te', 'chunked']]),
    ...[0, 4, 5_000].map((length) =>
      ask(`length ${length}`, [...start, type, ['content-length', String(length)]], smuggled),
    ),
    ask('two lengths', [...start, type, ['content-length', '0'], ['content-length', '900']], smuggled),
    ask('a negative length', [...start, type, ['content-length', '-1']], smuggled),
    ask('a line end in a value', [...start, type, ['x', `y\r\n\r\n${smuggled}`]]),
    ask('a line feed in a value', [...start, type, ['x', `y\nx-api-key: ${secret}`]]),
    ask('a NUL in a value', [...start, type, ['x', 'y\0z']]),
    ask('a line end in a name', [...start, type, [`x: y\r\nx-api-key: ${secret}\r\nz`, 'y']]),
    ask('a colon in a name', [...start, type, [`x-api-key: ${secret}`, 'y']]),
    ask('upper case', [...start, type, ['X-Api-Key', secret]]),
    ask('a space in a name', [...start, type, [`x-api-key `, secret]]),
    ask('an empty name', [...start, type, ['', secret]]),
    ask('two credentials', [...start, type, ['x-api-key', secret], ['x-api-key', 'x']]),
    ask('cookie', [...start, type, ['cookie', `token=${secret}`], ['cookie', 'x']]),
    send(
      'trailers with the secret',
      HEADERS([...start, type]),
      DATA(body, 0),
      HEADERS([['x-api-key', secret]], 5),
    ),
    send('data after the end', HEADERS([...start, type], 5), DATA(smuggled)),
    send('data before the headers', DATA(body), HEADERS([...start, type], 5)),
    send(
      'a reset in the middle',
      HEADERS([...start, type]),
      DATA(body.slice(0, 20), 0),
      frame(3, 0, 1, Buffer.alloc(4)),
    ),
    send('headers that go on', HEADERS([...start], 0), frame(9, 4, 1, field(['x-api-key', 'x'])), DATA(body)),
    send('headers cut', frame(1, 4, 1, Buffer.from([0, 127])), DATA(body)),
    send('an index out of the table', frame(1, 5, 1, Buffer.from([0xff, 0xff, 0xff, 0x7f]))),
    send('stream 0', frame(1, 5, 0, Buffer.concat(start.map(field)))),
    send('a frame of 16 MiB', Buffer.from([0xff, 0xff, 0xff, 1, 4, 0, 0, 0, 1])),
    send(
      'a push from the client',
      frame(5, 4, 1, Buffer.concat([Buffer.from([0, 0, 0, 2]), ...start.map(field)])),
    ),
  ];
}
