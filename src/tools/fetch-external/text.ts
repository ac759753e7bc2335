import { isUtf8 } from 'node:buffer';

export interface BodyType {
  /** Without parameters, lower case; null where the server names none. */
  mime: string | null;
  isHtml: boolean;
  /** Name in the Encoding Standard; undefined for what is not text. */
  charset: string | undefined;
}

const TEXT_TYPES =
  /^(?:text\/.+|application\/(?:.+\+)?(?:json|xml|yaml|toml)|application\/(?:json5|jsonl|ndjson|x-ndjson|json-seq|xml-dtd|javascript|x-javascript|ecmascript|x-yaml|x-toml|x-www-form-urlencoded|graphql|sql|x-sh|x-sql|pgp-signature|x-pem-file|http)|image\/svg\+xml|message\/.+|multipart\/.+)$/;
const UNTELLING = new Set(['application/octet-stream', 'binary/octet-stream', 'application/x-binary']);

/** Tells text from binary: by the type the server names, or by the first bytes where it names none. */
export function bodyType(contentType: string | undefined, head: Buffer): BodyType {
  const mime = contentType?.split(';')[0]?.trim().toLowerCase() || null;
  const isHtml =
    mime === 'text/html' || mime === 'application/xhtml+xml' || (mime === null && looksHtml(head));
  const isText = mime === null || UNTELLING.has(mime) ? looksText(head) : TEXT_TYPES.test(mime);
  const charset = isText ? charsetOf(contentType, head, isHtml) : undefined;
  return { mime, isHtml, charset };
}

function looksHtml(head: Buffer): boolean {
  return /^\s*<(?:!doctype html|html)[\s>]/i.test(head.toString('latin1'));
}

function looksText(head: Buffer): boolean {
  if (bomOf(head) !== undefined) return true;
  // The head may end inside a character of up to four bytes.
  const isWhole = [0, 1, 2, 3].some((cut) => isUtf8(head.subarray(0, Math.max(0, head.length - cut))));
  return isWhole && !head.some((byte) => byte < 9 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32));
}

function charsetOf(contentType: string | undefined, head: Buffer, isHtml: boolean): string {
  const named = /;\s*charset\s*=\s*["']?([\w:.-]+)/i.exec(contentType ?? '')?.[1];
  const inside = isHtml
    ? /<meta[^>]{0,200}charset\s*=\s*["']?([\w:.-]+)/i.exec(head.toString('latin1'))?.[1]
    : undefined;
  return bomOf(head) ?? known(named) ?? known(inside) ?? 'utf-8';
}

/** A byte order mark says more than any header (Encoding Standard, section 6). */
function bomOf(head: Buffer): string | undefined {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf-8';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  return undefined;
}

function known(label: string | undefined): string | undefined {
  try {
    return label === undefined ? undefined : new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

const LONGEST_CHARACTER = 4;

/** `end`, moved back so that no character is cut in two there; never to `start`, or nobody could read on. */
export function characterEnd(bytes: Buffer, start: number, end: number, charset: string): number {
  if (charset === 'utf-8') {
    let at = end;
    while (at > start && end - at < LONGEST_CHARACTER && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
    return at === start || ((bytes[at] ?? 0) & 0xc0) === 0x80 ? end : at;
  }
  // In the other charsets, where a character ends is known to their decoder alone.
  for (let at = end; at > end - LONGEST_CHARACTER && at > start; at -= 1) {
    if (isWhole(bytes.subarray(start, at), charset)) return at;
  }
  return end;
}

function isWhole(bytes: Buffer, charset: string): boolean {
  try {
    new TextDecoder(charset, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

export function decodeText(bytes: Buffer, charset: string): string {
  return new TextDecoder(charset).decode(bytes);
}
