/** What an attacker sends down one connection. */
export interface Variant {
  /** The class of trick, for the table of failures. */
  kind: string;
  name: string;
  /** The bytes, in the pieces in which they are written. */
  parts: Buffer[];
}

export interface RequestParts {
  method?: string;
  target?: string;
  version?: string;
  host?: string;
  /** Whole lines, in place of or besides Host, Content-Type and Content-Length, which are always there. */
  headers?: readonly string[];
  body?: string;
}

/** One request as bytes; text is taken as UTF-8, so that a test can say which bytes it means. */
export function request({
  method = 'POST',
  target = '/mcp',
  version = 'HTTP/1.1',
  host = 'localhost',
  headers = [],
  body = '',
}: RequestParts): string {
  const own = [
    `Host: ${host}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return [`${method} ${target} ${version}`, ...own, ...headers, '', body].join('\r\n');
}

/** Makes the other side close once it has answered all that came before, if it still understands it. */
export const LAST = request({ method: 'GET', target: '/none', headers: ['Connection: close'] });
