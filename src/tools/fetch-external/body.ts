/** A stretch of a body with the context around it. */
export interface Stretch {
  /** The bytes from `from` on, `before` and `after` the asked ones included. */
  bytes: Buffer;
  /** Where in `bytes` the asked ones begin and end. */
  start: number;
  end: number;
  /** The first bytes of the body, wherever `start` lies; what tells its type. */
  head: Buffer;
  /** The body goes on after `end`. */
  more: boolean;
}

const HEAD = 1024;

/**
 * Reads a body up to `offset + maxBytes` and `margin` bytes further, and keeps nothing but that stretch with the
 * same margin before it. Stops reading there, whatever else would come.
 */
export async function readStretch(
  body: AsyncIterable<Buffer>,
  { offset, maxBytes, margin }: { offset: number; maxBytes: number; margin: number },
  onBytes: (position: number) => void = () => {},
): Promise<Stretch> {
  const from = Math.max(0, offset - margin);
  // One byte beyond tells whether there is more.
  const to = offset + maxBytes + Math.max(margin, 1);
  const kept: Buffer[] = [];
  const head: Buffer[] = [];
  let position = 0;
  for await (const chunk of body) {
    if (position < HEAD) head.push(chunk.subarray(0, HEAD - position));
    const begin = Math.max(0, from - position);
    const end = Math.min(chunk.length, to - position);
    if (begin < end) kept.push(chunk.subarray(begin, end));
    position += chunk.length;
    onBytes(position);
    // Leaving the loop ends the stream and its connection.
    if (position >= to) break;
  }
  const bytes = Buffer.concat(kept);
  const start = Math.min(offset - from, bytes.length);
  const end = Math.min(start + maxBytes, bytes.length);
  return { bytes, start, end, head: Buffer.concat(head), more: bytes.length > end };
}
