import { stripInvisible } from '../../core/visible-text.ts';
import { readStretch } from './body.ts';
import { type MarkdownConverter, MOST_HTML } from './markdown.ts';
import type { Redaction } from './redaction.ts';
import { type BodyType, bodyType, characterEnd, decodeText } from './text.ts';

export type Format = 'text' | 'markdown' | 'base64';

export interface PageRequest {
  format: Format;
  offset: number;
  maxBytes: number;
  contentType: string | undefined;
  url: URL;
}

export interface Page {
  body: string;
  /** Position in the whole body (with `markdown`, in the whole of the markdown) at which `body` ends. */
  bytes: number;
  truncated: boolean;
}

export interface PageParts {
  redaction: Redaction;
  markdown: MarkdownConverter;
}

/** Reads the asked stretch of a body in the asked form; tokens are taken out of it before it is cut. */
export async function readPage(
  body: AsyncIterable<Buffer>,
  request: PageRequest,
  { redaction, markdown }: PageParts,
  signal: AbortSignal,
  onBytes: (position: number) => void,
): Promise<Page> {
  const { format, offset, maxBytes, contentType, url } = request;
  const { margin } = redaction;
  // Until the first bytes are there, HTML that no header announces is not known to be HTML.
  const wanted =
    format === 'markdown' && (contentType === undefined || /html/i.test(contentType))
      ? { offset: 0, maxBytes: Math.max(MOST_HTML, offset + maxBytes), margin }
      : { offset, maxBytes, margin };
  const stretch = await readStretch(body, wanted, onBytes);
  const type = bodyType(contentType, stretch.head);
  if (format === 'base64') {
    const { bytes, start, end, more } = stretch;
    return {
      body: redaction.binary(bytes, start, end).toString('base64'),
      bytes: offset + end - start,
      truncated: more,
    };
  }
  if (type.charset === undefined) return binaryNote(type, stretch.more, offset + stretch.end - stretch.start);

  if (format === 'markdown' && type.isHtml) {
    const end = Math.min(stretch.end, MOST_HTML);
    const html = decodeText(redaction.text(stretch.bytes, 0, end), type.charset);
    const converted = stripInvisible(await markdown.convert({ html, base: url.href }, signal));
    const isCut = stretch.more || stretch.end > end;
    const whole = Buffer.from(redaction.string(isCut ? converted + cutNote(end) : converted));
    return textStretch(whole, offset, Math.min(offset + maxBytes, whole.length), 'utf-8', offset);
  }
  const skipped = offset - wanted.offset;
  const start = Math.min(stretch.start + skipped, stretch.end);
  const end = Math.min(start + maxBytes, stretch.end);
  return textStretch(stretch.bytes, start, end, type.charset, offset, redaction);
}

/** The text from `start` to `end`, which lies at `offset` in the whole body. */
function textStretch(
  bytes: Buffer,
  start: number,
  end: number,
  charset: string,
  offset: number,
  redaction?: Redaction,
): Page {
  const from = Math.min(start, end);
  const to = end < bytes.length ? characterEnd(bytes, from, end, charset) : end;
  const shown = redaction ? redaction.text(bytes, from, to) : bytes.subarray(from, to);
  return {
    body: stripInvisible(decodeText(shown, charset)),
    bytes: offset + to - from,
    truncated: bytes.length > to,
  };
}

function cutNote(position: number): string {
  return `\n\n[The page has more HTML than is turned into markdown; format text reads on at offset ${position}.]\n`;
}

function binaryNote({ mime }: BodyType, truncated: boolean, bytes: number): Page {
  return {
    body: `[${mime ?? 'unknown type'}: not text; call again with "format": "base64".]`,
    bytes,
    truncated,
  };
}
