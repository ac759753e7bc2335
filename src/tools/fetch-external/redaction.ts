import type { Tokens } from './tokens.ts';

/** A stretch of bytes that spells a token in some form. */
interface Echo {
  start: number;
  /** Exclusive. */
  end: number;
  /** What stands in its place in text, in the same encoding. */
  mark: Buffer;
}

/**
 * Takes the injected tokens out of what a server sends back, in bytes: before a body is cut or encoded, because
 * half a token at a cut, or one inside base64, passes every filter of the text that comes after.
 */
export interface Redaction {
  /** Length of the longest form, in bytes: the context a cut needs on either side. */
  readonly margin: number;
  /** The bytes from `start` to `end`, every echo that touches them replaced by its name. */
  text(bytes: Buffer, start?: number, end?: number): Buffer;
  /** The same, every echoed byte replaced by `*`, so that positions in a binary format stay. */
  binary(bytes: Buffer, start?: number, end?: number): Buffer;
  string(text: string): string;
}

/** Shorter values stand in ordinary text by chance; the gate leaves them alone too. */
const SHORTEST = 6;

export function createRedaction(tokens: Tokens): Redaction {
  const forms = new Map<string, { bytes: Buffer; mark: Buffer }>();
  for (const { value, headerValue, variable } of tokens.values()) {
    const credential = headerValue.split(' ').at(-1) ?? '';
    for (const secret of new Set([value, credential])) {
      if (secret.length < SHORTEST) continue;
      for (const form of formsOf(secret, `[redacted ${variable}]`)) {
        forms.set(form.bytes.toString('latin1'), form);
      }
    }
  }
  const margin = Math.max(0, ...[...forms.values()].map(({ bytes }) => bytes.length));

  function echoes(bytes: Buffer): Echo[] {
    const found: Echo[] = [];
    for (const { bytes: form, mark } of forms.values()) {
      for (let at = bytes.indexOf(form); at !== -1; at = bytes.indexOf(form, at + form.length)) {
        found.push({ start: at, end: at + form.length, mark });
      }
    }
    return merged(found.sort((a, b) => a.start - b.start || b.end - a.end));
  }

  function replaced(bytes: Buffer, start: number, end: number, fill: (echo: Echo) => Buffer): Buffer {
    const parts: Buffer[] = [];
    let at = start;
    for (const echo of echoes(bytes)) {
      if (echo.end <= start || echo.start >= end) continue;
      const shown = { ...echo, start: Math.max(echo.start, start), end: Math.min(echo.end, end) };
      parts.push(bytes.subarray(at, shown.start), fill(shown));
      at = shown.end;
    }
    parts.push(bytes.subarray(at, end));
    return Buffer.concat(parts);
  }

  const text: Redaction['text'] = (bytes, start = 0, end = bytes.length) =>
    replaced(bytes, start, end, ({ mark }) => mark);
  return {
    margin,
    text,
    binary: (bytes, start = 0, end = bytes.length) =>
      replaced(bytes, start, end, (echo) => Buffer.alloc(echo.end - echo.start, '*')),
    string: (value) => (forms.size === 0 ? value : text(Buffer.from(value)).toString()),
  };
}

function merged(sorted: readonly Echo[]): Echo[] {
  const result: Echo[] = [];
  for (const echo of sorted) {
    const last = result.at(-1);
    if (last && echo.start < last.end) last.end = Math.max(last.end, echo.end);
    else result.push({ ...echo });
  }
  return result;
}

/** The forms in which servers echo what they were sent, each with its mark. */
function formsOf(secret: string, mark: string): { bytes: Buffer; mark: Buffer }[] {
  const percent = encodeURIComponent(secret);
  const html = secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  const hex = Buffer.from(secret).toString('hex');
  const texts = [
    secret,
    // As part of a hostname.
    secret.toLowerCase(),
    percent,
    percent.replaceAll(/%../g, (escape) => escape.toLowerCase()),
    JSON.stringify(secret).slice(1, -1),
    html,
    hex,
    hex.toUpperCase(),
    ...base64Forms(secret),
  ];
  // UTF-16 without the zero at its end, which is the same in both orders but for a zero before it.
  const wide = (text: string) => Buffer.from(text, 'utf16le').subarray(0, -1);
  return [
    ...texts.map((text) => ({ bytes: Buffer.from(text), mark: Buffer.from(mark) })),
    { bytes: wide(secret), mark: wide(mark) },
  ];
}

/**
 * What base64 makes of a secret in the middle of other text, at each of the three places where it can begin in a
 * group of three bytes; the characters that depend on its neighbours are left out.
 */
function base64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const length = shift + secret.length;
    const whole = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)]).toString('base64');
    const end = length % 3 === 0 ? whole.length : Math.floor((length * 8) / 6);
    const inner = whole.slice([0, 2, 3][shift], end);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
