import { describe, expect, it } from 'vitest';

import { createReadBuffer } from './read-buffer.ts';

/** Reads so many bytes, all of one value, as a socket does. */
function read(buffer: ReturnType<typeof createReadBuffer>, bytes: number, value: number): Buffer {
  const where = buffer.next();
  expect(where.length).toBeGreaterThanOrEqual(bytes);
  const piece = where.subarray(0, bytes).fill(value);
  buffer.took(bytes);
  return piece;
}

const KIB = 1024;

/** Full reads until they are as large as they get. */
function flooded() {
  const buffer = createReadBuffer();
  for (const size of [4, 16, 64]) read(buffer, size * KIB, 0);
  expect(buffer.next()).toHaveLength(256 * KIB);
  return buffer;
}

describe('the memory that a connection reads into', () => {
  it('is small while little comes, and new each time', () => {
    const buffer = createReadBuffer();
    const first = read(buffer, 100, 1);
    const second = read(buffer, 100, 2);
    expect(buffer.next()).toHaveLength(4 * KIB);
    expect(first.buffer).not.toBe(second.buffer);
    expect(first.every((byte) => byte === 1)).toBe(true);
  });

  it('is the same again in a flood', () => {
    const buffer = flooded();
    const memory = new Set(Array.from({ length: 1_000 }, () => read(buffer, 200 * KIB, 0).buffer));
    expect(memory.size).toBe(1);
    expect(memory.values().next().value?.byteLength).toBe(1024 * KIB);
  });

  // A packet whose tag comes with the next read is decrypted only then: written over, it would end the connection.
  it.each([1, 5 * KIB, 100 * KIB, 256 * KIB])('leaves what came before whole: reads of %s bytes', (size) => {
    const buffer = flooded();
    for (let round = 0; round < 40; round += 1) {
      const piece = read(buffer, size, 1);
      read(buffer, 256 * KIB, 2);
      read(buffer, 256 * KIB, 3);
      expect(piece.equals(Buffer.alloc(size, 1))).toBe(true);
    }
  });

  it('is let go when the flood is over', () => {
    const buffer = flooded();
    const last = read(buffer, 100 * KIB, 7);
    for (let count = 0; count < 64; count += 1) read(buffer, 100, 0);
    expect(buffer.next()).toHaveLength(4 * KIB);
    for (let count = 0; count < 64; count += 1) read(buffer, 100, 0);
    expect(last.every((byte) => byte === 7)).toBe(true);
  });
});
