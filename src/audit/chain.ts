import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/**
 * The chain that makes tampering show. A line of the log is
 * `{"seq":N, …the record… ,"mac":"M"}` with M = HMAC-SHA256(key, mac of the line before + "\n" + the line without
 * its mac), so whoever lacks the key can neither change a line nor drop, add or move one without a break.
 *
 * The key is derived from MCP_SECRET (HKDF, RFC 5869): the log must not hold anything made with the secret itself.
 */
export interface ChainKey {
  /** Names the key in a segment's header. Derived apart from the key, so it tells nothing of it. */
  id: string;
  key: KeyObject;
}

/** How far the chain has come: the last record's number and mac. */
export interface Position {
  seq: number;
  mac: string;
}

/** Before the first record of all. */
export const GENESIS: Position = { seq: 0, mac: '' };

export interface SealedLine extends Position {
  /** The line without its mac, in the encoding the line was read with. */
  body: string;
}

const KEY_INFO = 'remote-tool-server audit chain v1';
const ID_INFO = 'remote-tool-server audit key id v1';

export function deriveKey(secret: string): ChainKey {
  const derive = (info: string, bytes: number) => Buffer.from(hkdfSync('sha256', secret, '', info, bytes));
  return { id: derive(ID_INFO, 6).toString('hex'), key: createSecretKey(derive(KEY_INFO, 32)) };
}

/** The keys of several secrets by id; empty secrets are left out. */
export function deriveKeys(secrets: readonly string[]): Map<string, ChainKey> {
  const keys = secrets.filter((secret) => secret !== '').map(deriveKey);
  return new Map(keys.map((key) => [key.id, key]));
}

/** @param encoding of `body`: utf8 where it is written, latin1 (one character a byte) where it is read back */
export function macOf(
  { key }: ChainKey,
  previous: string,
  body: string,
  encoding: 'utf8' | 'latin1' = 'utf8',
): string {
  return createHmac('sha256', key).update(`${previous}\n`).update(body, encoding).digest('base64url');
}

/** The next line of the chain, with its newline. @param json the record, an object as JSON */
export function seal(key: ChainKey, after: Position, json: string): { line: string; position: Position } {
  const seq = after.seq + 1;
  const rest = json.slice(1);
  const body = `{"seq":${seq}${rest === '}' ? '' : ','}${rest}`;
  const mac = macOf(key, after.mac, body);
  return { line: `${body.slice(0, -1)},"mac":"${mac}"}\n`, position: { seq, mac } };
}

/** Takes a line (without newline) apart; undefined where it does not have the form of a sealed one. */
export function parseSealed(line: string): SealedLine | undefined {
  const start = /^\{"seq":([1-9]\d{0,14})[,}]/.exec(line);
  const end = /,"mac":"([A-Za-z0-9_-]{43})"\}$/.exec(line.slice(-54));
  if (!start || !end) return undefined;
  return { seq: Number(start[1]), mac: end[1] ?? '', body: `${line.slice(0, -end[0].length)}}` };
}
