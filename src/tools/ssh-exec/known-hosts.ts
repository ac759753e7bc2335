import { createHash, createHmac } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import { ToolError, messageOf, systemCodeOf } from '../../core/errors.ts';

/** The device as its host key is filed: under its name and its address, so that neither can be taken over alone. */
export interface HostNames {
  /** For messages. */
  device: string;
  names: readonly string[];
  port: number;
}

/** The host keys of devices, in a file that OpenSSH reads and writes as well. */
export interface KnownHosts {
  /** Key types on file for a host (`ssh-ed25519`), which a client asks for first so that keys can be compared. */
  keyTypes(host: HostNames): Promise<string[]>;
  /**
   * Returns when the key is the one on file, or when there was none: then the key is filed first.
   * @param key the public key as it travels in SSH
   * @throws ToolError `host_key_changed`; `internal` where the file cannot be read or written
   */
  check(host: HostNames, key: Buffer): Promise<void>;
  /** As `check`, but files nothing: `new` where `check` would have filed the key. */
  look(host: HostNames, key: Buffer): Promise<'known' | 'new'>;
}

interface Line {
  number: number;
  hosts: string;
  type: string;
  key: string;
  revoked: boolean;
}

/**
 * Host keys in an OpenSSH known_hosts file at `path`: trust on first use. A key counts as changed when the device's
 * name, or its address, is on file with other keys only. Hashed names and `@revoked` are understood; lines with
 * wildcards or certificate authorities are not looked at.
 */
export function createKnownHosts(path: string): KnownHosts {
  // One after the other: two first connections to a device must not file two different keys.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work);
    last = turn.catch(() => {});
    return turn;
  };

  return {
    keyTypes: (host) =>
      inTurn(async () => {
        const lines = linesFor(await read(path), host);
        return [...new Set(lines.filter((line) => !line.revoked).map((line) => line.type))];
      }),
    check: (host, key) =>
      inTurn(async () => {
        const text = await read(path);
        const missing = missingNames(path, text, host, key);
        if (missing.length === 0) return;
        await append(path, text, `${missing.join(',')} ${typeOf(key)} ${key.toString('base64')}\n`);
      }),
    look: (host, key) =>
      inTurn(async () => (missingNames(path, await read(path), host, key).length === 0 ? 'known' : 'new')),
  };
}

/** The names of a host that are not on file. @throws ToolError `host_key_changed` where one is, with other keys */
function missingNames(path: string, text: string, host: HostNames, key: Buffer): string[] {
  const lines = linesFor(text, host);
  const encoded = key.toString('base64');
  const revoked = lines.find((line) => line.revoked && line.key === encoded);
  if (revoked) throw changed(path, host, revoked, key);
  const missing: string[] = [];
  for (const name of patterns(host)) {
    const known = lines.filter((line) => !line.revoked && covers(line, name));
    const [first] = known;
    if (!first) missing.push(name);
    else if (!known.some((line) => line.key === encoded)) throw changed(path, host, first, key);
  }
  return missing;
}

/** The names of a host as known_hosts writes them: bare on port 22, else `[name]:port`. */
function patterns({ names, port }: HostNames): string[] {
  const lower = names.map((name) => name.toLowerCase());
  return [...new Set(lower)].map((name) => (port === 22 ? name : `[${name}]:${port}`));
}

function linesFor(text: string, host: HostNames): Line[] {
  const wanted = patterns(host);
  return parse(text).filter((line) => wanted.some((name) => covers(line, name)));
}

function parse(text: string): Line[] {
  return text.split('\n').flatMap((line, index) => {
    const fields = line.trim().split(/\s+/);
    const marker = fields[0]?.startsWith('@') ? fields.shift() : undefined;
    const [hosts = '', type, key] = fields;
    if (type === undefined || key === undefined || hosts.startsWith('#')) return [];
    if (marker !== undefined && marker !== '@revoked') return [];
    return [{ number: index + 1, hosts, type, key, revoked: marker === '@revoked' }];
  });
}

function covers(line: Line, name: string): boolean {
  if (!line.hosts.startsWith('|1|')) return line.hosts.toLowerCase().split(',').includes(name);
  const [, , salt = '', hash = ''] = line.hosts.split('|');
  return createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest('base64') === hash;
}

function typeOf(key: Buffer): string {
  return key.subarray(4, 4 + key.readUInt32BE(0)).toString('latin1');
}

function fingerprint(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

function changed(path: string, host: HostNames, line: Line, key: Buffer): ToolError {
  const known = `${fingerprint(Buffer.from(line.key, 'base64'))} (${line.type})`;
  const shown = `${fingerprint(key)} (${typeOf(key)})`;
  const message = line.revoked
    ? `The host key of ${host.device}, ${shown}, is marked as revoked in ${path}, line ${line.number}.`
    : `The host key of ${host.device} changed: ${path}, line ${line.number} has ${known}, the device shows ${shown}. Nothing was sent to it.`;
  const hint = `If the device was installed anew, the operator removes line ${line.number} from ${path} and the call can be repeated; otherwise somebody may be posing as the device.`;
  return new ToolError('host_key_changed', message, { hint });
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return '';
    throw unusable(path, error);
  }
}

async function append(path: string, before: string, line: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(path, 'a', 0o600);
    try {
      // A last line without its line break, as an editor may leave it, must not swallow the new one.
      await file.appendFile(before === '' || before.endsWith('\n') ? line : `\n${line}`);
      await file.chmod(0o600);
      await file.datasync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown): ToolError {
  return new ToolError('internal', `The known-hosts file ${path} cannot be used: ${messageOf(error)}`, {
    hint: 'Without it no host key can be recognised, so no device is connected to. Make the file writable for the server (SSH_KNOWN_HOSTS_PATH).',
    cause: error,
  });
}
