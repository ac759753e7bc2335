import { createHmac, timingSafeEqual } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';

import type { ChainKey, Position } from './chain.ts';

/**
 * The head file, `<log>.head`: how far the log has come, with a mac of its own. A chain alone cannot show that lines
 * were cut from its end; the head can. It is written at most once a second and when the log is closed, and names
 * only records that are on disk, so that a power cut never makes it promise more than there is.
 *
 * What it cannot show: the loss of records younger than a second, and an older copy of the whole directory, head
 * included, put back. Only a copy elsewhere shows that.
 */
export const headPath = (path: string): string => `${path}.head`;

export type Head =
  { state: 'missing' } | { state: 'forged' } | { state: 'unknown_key' } | ({ state: 'read' } & Position);

/** Replaces the file as a whole: a reader sees the old head or the new one. */
export async function writeHead(path: string, { id, key }: ChainKey, { seq, mac }: Position): Promise<void> {
  const proof = proofOf(key, seq, mac).toString('base64url');
  const temporary = `${headPath(path)}.new`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
  const file = await open(temporary, flags, 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ seq, mac, key: id, proof })}\n`);
  } finally {
    await file.close();
  }
  await rename(temporary, headPath(path));
}

/** @throws the system's error where the file is there and cannot be read */
export async function readHead(path: string, keys: ReadonlyMap<string, ChainKey>): Promise<Head> {
  let text: string;
  try {
    text = await readFile(headPath(path), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { state: 'missing' };
    throw error;
  }
  try {
    const { seq, mac, key: id, proof } = JSON.parse(text) as Record<string, unknown>;
    if (typeof seq !== 'number' || typeof mac !== 'string' || typeof proof !== 'string') {
      return { state: 'forged' };
    }
    const key = keys.get(String(id));
    if (key === undefined) return { state: 'unknown_key' };
    const given = Buffer.from(proof, 'base64url');
    const expected = proofOf(key.key, seq, mac);
    const equal = given.length === expected.length && timingSafeEqual(given, expected);
    return equal ? { state: 'read', seq, mac } : { state: 'forged' };
  } catch {
    return { state: 'forged' };
  }
}

function proofOf(key: ChainKey['key'], seq: number, mac: string): Buffer {
  return createHmac('sha256', key).update(`head\n${seq}\n${mac}`).digest();
}
