/** What is kept of one output stream: its head and its tail, and how much there was. */
export interface Capture {
  add(chunk: Buffer): void;
  /** The text, with a line in the place of what was cut. Bytes that are not UTF-8 become U+FFFD. */
  text(): string;
  readonly truncated: boolean;
}

/**
 * Keeps at most `limit` bytes of a stream, half from its start and half from its end, whatever its length.
 */
export function createCapture(limit: number): Capture {
  const headLimit = Math.ceil(limit / 2);
  const tailLimit = limit - headLimit;
  let head: Buffer | undefined;
  let headLength = 0;
  // A ring, made only for output that outgrows the head.
  let ring: Buffer | undefined;
  let tailTotal = 0;

  function addToTail(chunk: Buffer): void {
    if (tailLimit > 0) {
      ring ??= Buffer.allocUnsafe(tailLimit);
      const kept = chunk.subarray(Math.max(0, chunk.length - tailLimit));
      const at = (tailTotal + chunk.length - kept.length) % tailLimit;
      const first = kept.copy(ring, at);
      kept.copy(ring, 0, first);
    }
    tailTotal += chunk.length;
  }

  function tail(): Buffer {
    if (!ring) return Buffer.alloc(0);
    if (tailTotal <= tailLimit) return ring.subarray(0, tailTotal);
    const at = tailTotal % tailLimit;
    return Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
  }

  return {
    add(chunk) {
      const toHead = Math.min(chunk.length, headLimit - headLength);
      if (toHead > 0) {
        head ??= Buffer.allocUnsafe(headLimit);
        headLength += chunk.copy(head, headLength, 0, toHead);
      }
      if (toHead < chunk.length) addToTail(chunk.subarray(toHead));
    },
    text() {
      const start = head?.subarray(0, headLength) ?? Buffer.alloc(0);
      const end = tail();
      if (tailTotal <= tailLimit) return Buffer.concat([start, end]).toString('utf8');
      const shownStart = start.subarray(0, start.length - unfinishedCharacter(start));
      const shownEnd = end.subarray(strayContinuation(end));
      const cut = headLength + tailTotal - shownStart.length - shownEnd.length;
      return `${shownStart.toString('utf8')}\n[… ${cut} bytes cut …]\n${shownEnd.toString('utf8')}`;
    },
    get truncated() {
      return tailTotal > tailLimit;
    },
  };
}

/** Bytes at the end that begin a UTF-8 character without finishing it. */
export function unfinishedCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const needed = byte >= 0b1111_0000 ? 4 : byte >= 0b1110_0000 ? 3 : byte >= 0b1100_0000 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}

/** Bytes at the start that belong to a UTF-8 character whose beginning was cut. */
export function strayContinuation(bytes: Buffer): number {
  let count = 0;
  while (count < 3 && ((bytes[count] ?? 0) & 0b1100_0000) === 0b1000_0000) count += 1;
  return count;
}
