import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** How an outside system misbehaves; `echo` is the credential that it was sent, which it may tell anywhere. */
export interface Fault {
  answer: (response: ServerResponse, echo: string, request: IncomingMessage) => void;
  /** Takes as long as the product waits at most, so it is left to the whole run. */
  slow?: true;
}

const MEGABYTE = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };

const status =
  (code: number, headers: Record<string, string> = {}): Fault['answer'] =>
  (response, echo) => {
    response.writeHead(code, { ...JSON_TYPE, ...headers });
    // The API's own words for a failure are told on; here they hold what must not be told.
    response.end(JSON.stringify({ message: `no: ${echo}`, error: echo, errors: [{ message: echo }] }));
  };

const body =
  (text: string | ((echo: string) => string), headers: Record<string, string> = JSON_TYPE): Fault['answer'] =>
  (response, echo) => {
    response.writeHead(200, headers).end(typeof text === 'string' ? text : text(echo));
  };

/** Whatever was written to the socket instead of HTTP. */
const raw =
  (text: string): Fault['answer'] =>
  (response) => {
    response.socket?.end(text);
  };

/** Writes blocks for as long as somebody reads. */
function endless(response: ServerResponse, block: Buffer, headers: Record<string, string>): void {
  response.writeHead(200, { ...JSON_TYPE, ...headers });
  // An answer to HEAD has no body, and would take in blocks without end.
  if (response.req.method === 'HEAD') return void response.end();
  const more = () => {
    while (!response.destroyed && response.write(block));
  };
  response.on('drain', more);
  more();
}

const BOMB = gzipSync(Buffer.alloc(256 * MEGABYTE, 0x20));

export const FAULTS: Readonly<Record<string, Fault>> = {
  // Credentials in error texts were passed on into logs and to the model.
  'an error 500 that repeats the credential': { answer: status(500) },
  'an error 401 that repeats the credential': { answer: status(401) },
  'an error 403 that repeats the credential': { answer: status(403) },
  'an error 404 that repeats the credential': { answer: status(404) },
  'an error 400 that repeats the credential': { answer: status(400) },
  'an error 418': { answer: status(418) },
  'a limit that asks to wait 7 s': { answer: status(429, { 'retry-after': '7' }) },
  // Taken at its word, it locks the operator out for decades.
  'a limit that asks to wait for ever': {
    answer: status(429, { 'retry-after': '999999999999', 'x-ratelimit-reset': '99999999999' }),
  },
  'a limit with headers that mean nothing': {
    answer: status(429, { 'retry-after': 'soon', 'x-ratelimit-remaining': '-1', 'x-ratelimit-reset': 'NaN' }),
  },
  'a page for people with status 502': {
    answer: (response, echo) => {
      response
        .writeHead(502, { 'content-type': 'text/html' })
        .end(`<html><h1>Bad gateway</h1>${echo}</html>`);
    },
  },
  // A login portal answers 200 to everything.
  'a page for people with status 200': {
    answer: body('<html>Log in</html>', { 'content-type': 'text/html' }),
  },
  'JSON that ends early': { answer: body('{"devices":[{"id":"1",') },
  'JSON of another shape': {
    answer: body((echo) => JSON.stringify({ devices: echo, items: echo, 0: echo })),
  },
  'JSON null': { answer: body('null') },
  'a JSON text': { answer: body((echo) => JSON.stringify(echo)) },
  'JSON nested 100,000 deep': { answer: body(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) },
  'bytes that are no text': {
    answer: body('\u0000\uFFFD\u0001', { 'content-type': 'application/octet-stream' }),
  },
  'nothing, with status 200': { answer: body('') },
  'nothing, with status 204': { answer: (response) => void response.writeHead(204).end() },
  'that nothing has changed, to somebody who has nothing': {
    answer: (response) => void response.writeHead(304).end(),
  },
  // The credential would go along.
  'a redirect elsewhere that carries the credential': {
    answer: (response, echo) => {
      response.writeHead(302, { location: `http://localhost:1/?token=${encodeURIComponent(echo)}` }).end();
    },
  },
  'a redirect to itself': {
    answer: (response, _echo, request) =>
      void response.writeHead(307, { location: request.url ?? '/' }).end(),
  },
  'a body that never ends': {
    answer: (response) => endless(response, Buffer.alloc(MEGABYTE, 0x20), {}),
  },
  'a bomb in gzip': { answer: (response) => endless(response, BOMB, { 'content-encoding': 'gzip' }) },
  'gzip that is none': { answer: body('{"devices":[]}', { ...JSON_TYPE, 'content-encoding': 'gzip' }) },
  'a megabyte of headers': { answer: raw(`HTTP/1.1 200 OK\r\nx-long: ${'y'.repeat(MEGABYTE)}\r\n\r\n{}`) },
  'something that is not HTTP': { answer: raw('SSH-2.0-OpenSSH_9.2\r\n') },
  'two lengths': { answer: raw('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 4\r\n\r\n{}{}') },
  'a chunk that is none': { answer: raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}') },
  'a body cut off': { answer: raw('HTTP/1.1 200 OK\r\ncontent-length: 4096\r\n\r\n{"devices":[') },
  'a connection closed without an answer': { answer: (response) => void response.socket?.end() },
  'a connection reset': { answer: (response) => void response.socket?.resetAndDestroy() },
  'no answer at all': { slow: true, answer: () => {} },
  'headers, and then nothing': {
    slow: true,
    answer: (response) => {
      response.writeHead(200, JSON_TYPE);
      response.flushHeaders();
    },
  },
  'a byte now and then': {
    slow: true,
    answer: (response) => {
      response.writeHead(200, JSON_TYPE);
      const dripping = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(dripping));
    },
  },
};
