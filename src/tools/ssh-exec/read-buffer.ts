/** The memory that a connection's socket reads into; a socket's own way takes new memory for every read. */
export interface ReadBuffer {
  /** Where the next read goes. */
  next(): Buffer;
  /** Told how many bytes came with the last read. */
  took(bytes: number): void;
}

const SMALLEST = 4 * 1024;
const LARGEST = 256 * 1024;
/**
 * A gigabyte goes by in pieces of this, over and over: what a read brought stays whole until three times the largest
 * read has come after it. ssh2 keeps pieces beyond the read they came with only while it waits for a packet's
 * authentication tag, some bytes later, and while keys are exchanged, when the other side sends nothing else.
 */
const RING = 4 * LARGEST;
/** Small reads in a row after which a flood is over, and its memory is let go. */
const MOST_SMALL = 64;

/**
 * Small and new for each read while little comes, so that an idle connection holds next to nothing; large and used
 * again during a flood, which would otherwise leave as much garbage as it has bytes.
 */
export function createReadBuffer(): ReadBuffer {
  let size = SMALLEST;
  let ring: Buffer | undefined;
  let at = 0;
  let small = 0;

  return {
    next() {
      if (size < LARGEST) return Buffer.allocUnsafeSlow(size);
      ring ??= Buffer.allocUnsafeSlow(RING);
      if (at + LARGEST > RING) at = 0;
      return ring.subarray(at, at + LARGEST);
    },
    took(bytes) {
      if (ring) at += bytes;
      small = bytes < SMALLEST ? small + 1 : 0;
      if (bytes >= size) {
        size = Math.min(LARGEST, size * 4);
      } else if (small >= MOST_SMALL) {
        size = SMALLEST;
        // Whoever still holds a piece of it keeps it; nobody writes to it any more.
        ring = undefined;
        at = 0;
        small = 0;
      }
    },
  };
}
