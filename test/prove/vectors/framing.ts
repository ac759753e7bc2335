import { LAST, request, type Variant } from './edge-request.ts';

const CRLF = '\r\n';

/** The head of a request whose framing the caller writes by hand. */
const head = (lines: readonly string[], start = 'POST /mcp HTTP/1.1'): string =>
  [start, 'Host: localhost', 'Content-Type: application/json', ...lines, '', ''].join(CRLF);

const chunked = (body: string): string =>
  `${Buffer.byteLength(body).toString(16)}${CRLF}${body}${CRLF}0${CRLF}${CRLF}`;

/**
 * Names and values by which one parser sees `Transfer-Encoding: chunked` and another does not. What went wrong
 * elsewhere: white space before the colon, folded lines, lists, bare line feeds, unknown white space.
 */
const TRANSFER_ENCODINGS = [
  'Transfer-Encoding: chunked',
  'transfer-encoding:chunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding\t: chunked',
  ' Transfer-Encoding: chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunkedx',
  'Transfer-Encoding: Chunked',
  'Transfer-Encoding: "chunked"',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: identity, chunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, gzip',
  'Transfer-Encoding: chunked;q=1',
  'Transfer-Encoding: ,chunked',
  'Transfer-Encoding: chunked,',
  'Transfer-Encoding:\tchunked',
  'Transfer-Encoding: \x0bchunked',
  'Transfer-Encoding: chunked\x0b',
  'Transfer-Encoding: chunked\0',
  'Transfer-Encoding: \x00chunked',
  'Transfer-Encoding: chun\u00E7ked',
  'Transfer-Encoding:\r\n chunked',
  'Transfer-Encoding: chunked\r\n x',
  'X: y\r\n Transfer-Encoding: chunked',
  'X: y\nTransfer-Encoding: chunked',
  'X: y\rTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: x\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding:\r\nTransfer-Encoding: chunked',
  'Transfer_Encoding: chunked',
  'Transfer-Encoding\0: chunked',
  'Transfer-Encoding\u200B: chunked',
  'Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked',
  'TE: chunked',
  'Trailer: Content-Length\r\nTransfer-Encoding: chunked',
];

/** Those that name no transfer coding to any reader: after its length the next request begins, and is one. */
const NO_CODING = /^(TE|Transfer_Encoding|X):/;

/** Lengths that are no length, or that overflow into one. */
const LENGTHS = [
  '-1',
  '+5',
  '0x10',
  '1e3',
  '5.0',
  '5,5',
  '5, 6',
  '5 5',
  '５',
  '005',
  '00000000000000000000000000000005',
  '',
  ' ',
  'a',
  '5a',
  '5;',
  '"5"',
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551615',
  '18446744073709551616',
  '18446744073709551621',
  '4294967301',
  '99999999999999999999999999999',
  '5\x0b',
  '5\0',
  '\x0c5',
  '5_0',
];

/** Sizes of a chunk that are none, are cut by one parser only, or overflow. */
const CHUNK_SIZES = [
  '-1',
  '+5',
  '0x5',
  ' 5',
  '5 ',
  '5\t',
  '5;',
  '5;a=b',
  '5;a="\r\n0\r\n\r\n"',
  '5;\n0',
  '5\n',
  '5\r',
  '\n5',
  '',
  'g',
  '５',
  '05',
  '0000000000000000000000005',
  'ffffffff',
  'ffffffffffffffff',
  '10000000000000005',
  'fffffffffffffffff',
  '7fffffffffffffff',
  '5,5',
  '5;\0',
  `5;${'a'.repeat(20_000)}`,
];

/** Heads that one parser takes for a whole request and another for a part of one. */
const HEADS = (lengthOf: string): [string, string][] => [
  ['bare line feeds', `POST /mcp HTTP/1.1\nHost: localhost\n${lengthOf}\n\n`],
  ['bare returns', `POST /mcp HTTP/1.1\rHost: localhost\r${lengthOf}\r\r`],
  ['one bare line feed at the end', `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${lengthOf}\r\n\n`],
  ['return, return, feed', `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${lengthOf}\r\r\n\r\n`],
  ['lines before', `\r\n\r\nPOST /mcp HTTP/1.1\r\nHost: localhost\r\n${lengthOf}\r\n\r\n`],
  ['NUL before', `\0POST /mcp HTTP/1.1\r\nHost: localhost\r\n${lengthOf}\r\n\r\n`],
  ['a byte order mark', `\uFEFFPOST /mcp HTTP/1.1\r\nHost: localhost\r\n${lengthOf}\r\n\r\n`],
  ['two spaces', `POST  /mcp  HTTP/1.1\r\nHost: localhost\r\n${lengthOf}\r\n\r\n`],
  ['tabs', `POST\t/mcp\tHTTP/1.1\r\nHost: localhost\r\n${lengthOf}\r\n\r\n`],
  ['a space in the target', `POST /mcp HTTP/1.1 x HTTP/1.1\r\nHost: localhost\r\n${lengthOf}\r\n\r\n`],
  ['HTTP/0.9', 'GET /mcp\r\n'],
  ['HTTP/0.9 with POST', `POST /mcp\r\n${lengthOf}\r\n\r\n`],
  ['HTTP/1.0', head([lengthOf], 'POST /mcp HTTP/1.0')],
  ['HTTP/1.0 kept alive', head([lengthOf, 'Connection: keep-alive'], 'POST /mcp HTTP/1.0')],
  ['HTTP/1.0 chunked', head(['Transfer-Encoding: chunked'], 'POST /mcp HTTP/1.0')],
  ['HTTP/1.2', head([lengthOf], 'POST /mcp HTTP/1.2')],
  ['HTTP/2.0 as text', head([lengthOf], 'POST /mcp HTTP/2.0')],
  ['HTTP/9', head([lengthOf], 'POST /mcp HTTP/9')],
  ['http/1.1', head([lengthOf], 'POST /mcp http/1.1')],
  ['HTTP/1.1 with more', head([lengthOf], 'POST /mcp HTTP/1.1x')],
  ['HTTP/01.1', head([lengthOf], 'POST /mcp HTTP/01.1')],
  ['no version', head([lengthOf], 'POST /mcp ')],
  ['ICE/1.0', head([lengthOf], 'SOURCE /mcp ICE/1.0')],
  ['RTSP', head([lengthOf], 'POST /mcp RTSP/1.0')],
  ['no host', `POST /mcp HTTP/1.1\r\n${lengthOf}\r\n\r\n`],
  ['a line without a colon', head(['nonsense', lengthOf])],
  ['an empty name', head([': x', lengthOf])],
  ['a name with a space', head(['a b: c', lengthOf])],
  ['a folded line first', ` x: y\r\n${head([lengthOf])}`],
  ['a NUL in a value', head(['X: a\0b', lengthOf])],
  ['control characters in a value', head(['X: a\x01\x08\x7fb', lengthOf])],
  ['a target of 40 KiB', head([lengthOf], `POST /mcp?${'a'.repeat(40_960)} HTTP/1.1`)],
  ['a header of 40 KiB', head([`X: ${'a'.repeat(40_960)}`, lengthOf])],
  ['a name of 40 KiB', head([`${'x'.repeat(40_960)}: a`, lengthOf])],
  ['2,000 headers', head([...Array.from({ length: 2_000 }, (_, at) => `X${at}: a`), lengthOf])],
  ['length and its twin', head([lengthOf, lengthOf])],
  ['length behind 1,100 headers', head([...Array.from({ length: 1_100 }, () => 'a:b'), lengthOf])],
  [
    'upgrade to h2c',
    head([
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQAAP__',
      lengthOf,
    ]),
  ],
  [
    'upgrade to a WebSocket',
    head(
      [
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        lengthOf,
      ],
      'GET /mcp HTTP/1.1',
    ),
  ],
  [
    'a WebSocket of a bad version',
    head(['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 777', lengthOf]),
  ],
  ['upgrade to TLS', head(['Connection: Upgrade', 'Upgrade: TLS/1.0', lengthOf])],
  ['upgrade to HTTP/1.1', head(['Connection: Upgrade', 'Upgrade: HTTP/1.1', lengthOf])],
  ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'],
  ['CONNECT', 'CONNECT server:3000 HTTP/1.1\r\nHost: server:3000\r\n\r\n'],
  ['CONNECT with a length', head([lengthOf], 'CONNECT localhost:443 HTTP/1.1')],
  ['GET with a body', head([lengthOf], 'GET /mcp HTTP/1.1')],
  ['HEAD with a body', head([lengthOf], 'HEAD /health HTTP/1.1')],
  ['OPTIONS *', head([lengthOf], 'OPTIONS * HTTP/1.1')],
  ['Expect: 100-continue', head(['Expect: 100-continue', lengthOf])],
  ['Expect: nonsense', head(['Expect: nonsense', lengthOf])],
  ['Expect, folded', head(['Expect:\r\n 100-continue', lengthOf])],
  ['Connection names the length', head(['Connection: Content-Length', lengthOf])],
  ['Connection names the credentials', head(['Connection: X-Api-Key, Authorization, Host', lengthOf])],
  ['Connection: close first', head(['Connection: close', lengthOf])],
  ['Range', head(['Range: bytes=0-', lengthOf])],
  ['Content-Encoding: gzip', head(['Content-Encoding: gzip', lengthOf])],
];

/**
 * Requests whose end is in dispute, each without a credential. `hidden` is a whole request with the secret and a
 * call, `bare` the same without: where the dispute lets it run, two parsers have disagreed (request smuggling).
 *
 * Whoever knows the secret may as well send the request in the open; in a body it stands for that of somebody else,
 * who shares the connection between the proxy and the server.
 */
export function framingVariants(secret: string, body: string): Variant[] {
  const hidden = request({ target: `/mcp?token=${secret}`, body });
  const bare = request({ target: '/mcp', body });
  const send = (kind: string, name: string, ...parts: string[]): Variant => ({
    kind,
    name: name.replaceAll(/[^ -~]/g, '·').slice(0, 60),
    parts: [...parts.slice(0, -1), (parts.at(-1) ?? '') + LAST].map((part) => Buffer.from(part)),
  });
  const length = (text: string) => `Content-Length: ${Buffer.byteLength(text)}`;
  const ended = `0${CRLF}${CRLF}`;
  return [
    // Read by its length, the hidden request is in the body; read by its chunks, it is the next one.
    ...TRANSFER_ENCODINGS.map((line) =>
      send('CL.TE', line, head([length(ended + bare), line]) + ended + bare),
    ),
    // The other way round: by its chunks it is in the body, by its length (4: the size and its end) it follows.
    ...TRANSFER_ENCODINGS.flatMap((line) => [
      send('TE.CL', line, head(['Content-Length: 4', line]) + chunked(NO_CODING.test(line) ? bare : hidden)),
      send('TE.CL, length last', line, head([line, 'Content-Length: 4']) + chunked(bare)),
    ]),
    ...LENGTHS.map((value) => send('length', value, head([`Content-Length: ${value}`]) + hidden)),
    ...LENGTHS.flatMap((value) => [
      send('two lengths', value, head([length(hidden), `Content-Length: ${value}`]) + hidden),
      send('two lengths, right last', value, head([`Content-Length: ${value}`, length(hidden)]) + hidden),
    ]),
    ...CHUNK_SIZES.flatMap((size) => [
      send('chunk size', size, head(['Transfer-Encoding: chunked']) + `${size}${CRLF}abcde${CRLF}` + bare),
      // Whoever reads another size takes what is in the next chunk for a request.
      send(
        'chunk size, hidden',
        size,
        `${head(['Transfer-Encoding: chunked'])}${size}${CRLF}abcde${CRLF}${chunked(hidden)}`,
      ),
    ]),
    ...HEADS(length(body)).map(([name, text]) => send('head', name, text + body)),
    ...HEADS(length(body)).map(([name, text]) => send('head, pipelined', name, text + body + bare)),
    ...HEADS(length(hidden)).map(([name, text]) => send('head, hidden', name, text + bare)),
    // Cut in the middle: what came is not to be run when the rest does not come.
    ...[0, 1, 10, 60].map((missing) =>
      send(
        'cut body',
        `${missing} bytes short`,
        head([length(body), 'Connection: close']) + body.slice(0, body.length - missing),
      ),
    ),
    ...trailers(secret).map((line) =>
      send(
        'trailer',
        line.replace(secret, '…'),
        head(['Transfer-Encoding: chunked', `Trailer: ${line.split(':')[0]}`]) +
          `${chunked(body).slice(0, -2)}${line}${CRLF}${CRLF}`,
      ),
    ),
    ...pieces(request({ body })).map(([name, parts]) => send('pieces', name, ...parts)),
  ];
}

/** Fields after the last chunk: too late to be believed. */
const trailers = (secret: string): string[] => [
  `Authorization: Bearer ${secret}`,
  `X-Api-Key: ${secret}`,
  'Content-Length: 5',
  'Transfer-Encoding: identity',
  'Host: evil.example',
  `Cookie: token=${secret}`,
];

/** The same bytes in many writes: where a parser keeps its place wrongly, the seams show it. */
function pieces(text: string): [string, string[]][] {
  const at = text.indexOf('\r\n\r\n');
  const cut = (...places: number[]) =>
    [0, ...places].map((from, index) => text.slice(from, places[index] ?? text.length));
  return [
    ['after the method', cut(4)],
    ['in the version', cut(14)],
    ['between return and feed', cut(text.indexOf('\r\n') + 1)],
    ['before the last line feed of the head', cut(at + 3)],
    ['head and body', cut(at + 4)],
    ['in the body', cut(at + 20)],
    ['byte by byte', cut(...Array.from({ length: text.length - 1 }, (_, index) => index + 1))],
  ];
}
