import { createConnection, type Socket } from 'node:net';

import type { AnyAuthMethod, Client, ClientChannel, ServerHostKeyAlgorithm } from 'ssh2';

import { ToolError, messageOf } from '../../core/errors.ts';
import { connectFailure, lostMidCommand } from './failures.ts';
import { keyFault } from './key.ts';
import type { KnownHosts } from './known-hosts.ts';
import { createReadBuffer } from './read-buffer.ts';

/** Where a command runs. */
export interface Target {
  /** The device's name, for messages. */
  device: string;
  /** What its host key is filed under. */
  names: readonly string[];
  address: string;
  port: number;
  user: string;
}

export interface ConnectOptions {
  knownHosts: KnownHosts;
  privateKey: Buffer | string | undefined;
  /** For the whole way from the first packet to the login. */
  timeoutMs: number;
}

/** How a command ended; undefined where the device never said, because the connection died. */
export type Exit = { code: number | null; signal: string | null } | undefined;

/** A command that runs on the device. */
export interface Remote {
  /** Settles when all output has arrived. */
  readonly ended: Promise<Exit>;
  /** Lets go of the channel. The command does not notice: ending it is another matter. */
  close(): void;
}

export interface Connection {
  readonly alive: boolean;
  /** The authentication method that the device accepted. */
  readonly method: 'none' | 'publickey';
  /** Whether commands are known to be read by a POSIX shell; kept here for whoever finds out. */
  posixShell: boolean;
  /** Settles when the connection is gone. */
  readonly closed: Promise<void>;
  /**
   * Starts a command; `stdin` is sent whole, then its end.
   * @throws NotStarted when the command surely did not start; ToolError `ssh_unreachable` otherwise
   */
  start(command: string, stdin: string, onStdout: OnData, onStderr: OnData): Promise<Remote>;
  end(): void;
}

type OnData = (chunk: Buffer) => void;

/** `lost`: the connection was dead already. `channels`: the device admits no further channel on it. */
export class NotStarted extends Error {
  readonly reason: 'lost' | 'channels';
  constructor(reason: 'lost' | 'channels') {
    super(reason);
    this.reason = reason;
  }
}

const HOST_KEY_ALGORITHMS: readonly { type: string; name: ServerHostKeyAlgorithm }[] = [
  { type: 'ssh-ed25519', name: 'ssh-ed25519' },
  { type: 'ecdsa-sha2-nistp256', name: 'ecdsa-sha2-nistp256' },
  { type: 'ecdsa-sha2-nistp384', name: 'ecdsa-sha2-nistp384' },
  { type: 'ecdsa-sha2-nistp521', name: 'ecdsa-sha2-nistp521' },
  { type: 'ssh-rsa', name: 'rsa-sha2-512' },
  { type: 'ssh-rsa', name: 'rsa-sha2-256' },
];

const PING_MS = 2_000;
/** Pings without a single byte in answer before a connection counts as dead: 8 s, longer than a change of network. */
const MOST_SILENT_PINGS = 4;

/**
 * Connects and logs in: `none` first, which is what a mesh network's SSH feature accepts, then the key.
 * @throws ToolError `ssh_unreachable`, `ssh_auth_failed`, `host_key_changed`, or the signal's reason
 */
export async function connect(
  target: Target,
  { knownHosts, privateKey, timeoutMs }: ConnectOptions,
  signal: AbortSignal,
): Promise<Connection> {
  const host = { device: target.device, names: target.names, port: target.port };
  const known = hostKeyAlgorithms(await knownHosts.keyTypes(host));
  const fault =
    privateKey === undefined ? 'The server has no SSH key.' : await keyFault(privateKey.toString());
  const { default: ssh2 } = await import('ssh2');
  signal.throwIfAborted();

  const { user: username } = target;
  const methods: AnyAuthMethod[] = [{ type: 'none', username }];
  if (privateKey !== undefined && fault === undefined) {
    methods.push({ type: 'publickey', username, key: privateKey });
  }
  const tried: string[] = [];
  const banners: string[] = [];
  const client = new ssh2.Client();
  const socket = open(target);
  let checked: Buffer | undefined;

  await new Promise<void>((resolve, reject) => {
    let hostKeyError: unknown;
    let settled = false;
    const fail = (cause?: unknown, timedOut = false) => {
      if (settled) return;
      settle();
      reject(
        hostKeyError ??
          connectFailure({ target, cause, timedOut, timeoutMs, tried, banners, keyFault: fault }),
      );
      socket.destroy();
    };
    const onAbort = () => {
      settle();
      reject(signal.reason as Error);
      socket.destroy();
    };
    const timer = setTimeout(() => fail(undefined, true), timeoutMs);
    const settle = () => {
      settled = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    client.on('error', (error) => fail(error));
    // A server that says a banner and hangs up brings about a close and no error.
    client.on('close', () => fail());
    client.on('banner', (text) => banners.push(text));
    client.on('ready', () => {
      settle();
      resolve();
    });
    client.connect({
      sock: socket,
      username,
      ...(known && { algorithms: { serverHostKey: known } }),
      authHandler: (_left, _partial, next) => {
        const method = methods[tried.length];
        if (!method) return next(false as never);
        tried.push(method.type);
        next(method);
      },
      hostVerifier: (key: Buffer, verify: (ok: boolean) => void) => {
        // Keys are exchanged anew after some gigabytes, and the key that was shown at first needs no second look at
        // the file: output goes on meanwhile, and would write over the rest of the exchange.
        if (checked?.equals(key)) return verify(true);
        const shown = Buffer.from(key);
        knownHosts.check(host, shown).then(
          () => {
            checked = shown;
            return verify(true);
          },
          (error: unknown) => {
            hostKeyError = error;
            verify(false);
          },
        );
      },
      readyTimeout: 0,
      // ssh2 takes only answers to its pings for a sign of life, which queue behind output on a slow link. So it
      // just pings, and `watch` counts bytes.
      keepaliveInterval: PING_MS,
      keepaliveCountMax: Number.MAX_SAFE_INTEGER,
    });
  });
  const method = tried.at(-1) === 'none' ? 'none' : 'publickey';
  return connection(target, client, socket, method);
}

/** A socket that reads large output into the same memory again and again. */
function open({ address, port }: Target): Socket {
  const memory = createReadBuffer();
  const socket: Socket = createConnection({
    host: address,
    port,
    noDelay: true,
    onread: {
      buffer: () => memory.next(),
      callback: (bytes, buffer): boolean => {
        memory.took(bytes);
        // Sockets that read so have no such event of their own, and ssh2 waits for it.
        return socket.emit('data', buffer.subarray(0, bytes));
      },
    },
  });
  // Until ssh2 listens, and resumes it: what came before would be lost.
  return socket.pause();
}

function connection(
  target: Target,
  client: Client,
  socket: Socket,
  method: Connection['method'],
): Connection {
  let alive = true;
  let seen = socket.bytesRead;
  let silent = 0;
  const watch = setInterval(() => {
    silent = socket.bytesRead === seen ? silent + 1 : 0;
    seen = socket.bytesRead;
    if (silent >= MOST_SILENT_PINGS) socket.destroy();
  }, PING_MS);
  const closed = new Promise<void>((resolve) => {
    const onGone = () => {
      alive = false;
      clearInterval(watch);
      resolve();
    };
    client.on('close', onGone);
    client.on('error', () => {
      onGone();
      socket.destroy();
    });
  });

  return {
    get alive() {
      return alive;
    },
    method,
    posixShell: false,
    closed,
    start: (command, stdin, onStdout, onStderr) =>
      new Promise((resolve, reject) => {
        const onChannel = (error: Error | undefined, channel: ClientChannel) => {
          if (error) reject(startFailure(target, error, alive));
          // Listeners have to stand before this returns: output may be in the very same packet.
          else resolve(remote(channel, stdin, onStdout, onStderr));
        };
        try {
          client.exec(command, onChannel);
        } catch {
          // ssh2 knows of an end before the socket closes: until then the pool would give out the same one again.
          alive = false;
          socket.destroy();
          reject(new NotStarted('lost'));
        }
      }),
    end: () => {
      client.end();
      // The other side may never answer; what was to be sent has a moment to go out.
      setTimeout(() => socket.destroy(), 1_000).unref();
    },
  };
}

function remote(channel: ClientChannel, stdin: string, onStdout: OnData, onStderr: OnData): Remote {
  let exit: Exit;
  channel.on('exit', (code: number | null, signal?: string) => {
    exit = { code, signal: signal?.replace(/^SIG/, '') ?? null };
  });
  channel.on('data', onStdout);
  channel.stderr.on('data', onStderr);
  // Writing to a command that has ended already is no failure of the call.
  channel.on('error', () => {});
  const ended = Promise.all([
    new Promise<void>((resolve) => channel.on('close', () => resolve())),
    new Promise<void>((resolve) => channel.stderr.on('end', () => resolve())),
  ]).then(() => exit);
  channel.end(stdin);
  return { ended, close: () => channel.close() };
}

function startFailure(target: Target, error: Error, alive: boolean): Error {
  // ssh2 sets `reason` on a refused channel; the other two are its words for a connection that had gone before.
  if ('reason' in error) return new NotStarted('channels');
  if (/No response from server|Channel is not open/.test(error.message)) return new NotStarted('lost');
  if (!alive) return lostMidCommand(target);
  const message = `${target.device} (${target.address}) does not run commands for ${target.user}: ${messageOf(error)}`;
  return new ToolError('ssh_unreachable', message, {
    hint: 'The SSH server accepted the login and refused the command: look at its configuration for this account.',
  });
}

/** The algorithms for the key types on file, to be preferred; undefined where nothing is on file. */
function hostKeyAlgorithms(types: readonly string[]): ServerHostKeyAlgorithm[] | undefined {
  const known = HOST_KEY_ALGORITHMS.filter(({ type }) => types.includes(type));
  if (known.length === 0) return undefined;
  const others = HOST_KEY_ALGORITHMS.filter((algorithm) => !known.includes(algorithm));
  return [...known, ...others].map(({ name }) => name);
}
