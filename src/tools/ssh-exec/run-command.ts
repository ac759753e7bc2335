import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

import { ToolError } from '../../core/errors.ts';
import { abortable } from './abortable.ts';
import { type Handle, announcement, createAnnouncementFilter, isPosix } from './end-command.ts';
import type { Ending } from './ending.ts';
import { lostMidCommand } from './failures.ts';
import { type Capture, createCapture } from './output.ts';
import type { Lease, Pool } from './pool.ts';
import { type Connection, type Exit, NotStarted, type Remote, type Target } from './ssh.ts';

export interface CommandRequest {
  command: string;
  cwd: string | undefined;
  stdin: string | undefined;
  /** From the moment the command starts. The wait for a free channel may take as long again. */
  timeoutMs: number;
  /** Bytes kept of each output stream. */
  maxBytes: number;
}

/** Told of a command while it runs. */
export interface CommandListener {
  onStart?(): void;
  onOutput?(stream: 'stdout' | 'stderr', chunk: Buffer): void;
}

export interface CommandResult {
  /** Null when it was ended by a signal, or by the timeout. */
  exit_code: number | null;
  /** As `KILL`, without SIG. */
  signal: string | null;
  stdout: string;
  stderr: string;
  stdout_truncated: boolean;
  stderr_truncated: boolean;
  duration_ms: number;
  timed_out: boolean;
  hint?: string;
}

/** A device may admit fewer channels than we try at first; each refusal lowers the number for the next try. */
const MOST_STARTS = 16;

const REFUSED_MS = 20;

const STILL_RUNNING = 'The command could not be ended, or not wholly: look for its processes on the device.';

/**
 * Runs one command in the login's shell and returns how it ended. A timeout ends it on the device, with all its
 * processes, and is a normal result; so is a command that a signal killed.
 * @throws ToolError `cancelled` (the signal's reason) after the command was ended, `timeout` when no channel came
 *   free, `ssh_unreachable` when the connection died under the command, and what connecting throws
 */
export async function runCommand(
  pool: Pool,
  ending: Ending,
  target: Target,
  request: CommandRequest,
  signal: AbortSignal,
  listener: CommandListener = {},
): Promise<CommandResult> {
  const handle: Handle = {
    token: `rts-${randomBytes(12).toString('hex')}`,
    pid: undefined,
    shell: undefined,
  };
  const stdout = createCapture(request.maxBytes);
  const stderr = createCapture(request.maxBytes);
  const take = (stream: 'stdout' | 'stderr', capture: Capture) => (chunk: Buffer) => {
    capture.add(chunk);
    listener.onOutput?.(stream, chunk);
  };
  const filter = createAnnouncementFilter(handle, take('stderr', stderr));
  const rest = `${changeDirectory(request.cwd)}${request.command}`;

  const { lease, remote } = await start(pool, target, request.timeoutMs, signal, (connection) => {
    const line = announcement(handle, connection.posixShell) + rest;
    return connection.start(line, request.stdin ?? '', take('stdout', stdout), (chunk) => filter.add(chunk));
  });
  const started = performance.now();
  listener.onStart?.();
  try {
    const exit = await waitFor(remote, request.timeoutMs, signal);
    if (exit !== 'timeout' && exit !== 'aborted') {
      filter.flush();
      learnShell(lease.connection, handle);
      if (!exit) throw lostMidCommand(target, { stdout: stdout.text(), stderr: stderr.text() });
      return result(exit, started, stdout, stderr);
    }
    const ended = await ending.end(target, lease.connection, remote, handle);
    filter.flush();
    if (exit === 'aborted') throw cancelled(signal.reason, ended);
    const late: Exit = { code: null, signal: null };
    return {
      ...result(late, started, stdout, stderr),
      timed_out: true,
      ...(!ended && { hint: STILL_RUNNING }),
    };
  } finally {
    remote.close();
    lease.release();
  }
}

/** An account's shell stays the same while its connection lasts, so it is asked for once. */
function learnShell(connection: Connection, handle: Handle): void {
  if (isPosix(handle)) connection.posixShell = true;
  // It may have been a command that no shell could read; or the shell is not what it seemed.
  else if (handle.pid === undefined) connection.posixShell = false;
}

interface Started {
  lease: Lease;
  remote: Remote;
}

async function start(
  pool: Pool,
  target: Target,
  waitMs: number,
  signal: AbortSignal,
  begin: (connection: Connection) => Promise<Remote>,
): Promise<Started> {
  let lost = 0;
  for (let tries = 1; ; tries += 1) {
    const lease = await pool.lease(target, waitMs, signal);
    try {
      return { lease, remote: await begin(lease.connection) };
    } catch (error) {
      lease.release();
      if (!(error instanceof NotStarted)) throw error;
      // It surely did not start, so it may be started again.
      if (error.reason === 'lost') lost += 1;
      else if (tries > 1) lease.channelRefused();
      // sshd counts a session a moment longer than its channel: once refused says nothing of its limit yet.
      else await pause(REFUSED_MS);
      if (lost > 1 || tries === MOST_STARTS) throw noChannel(target);
    }
  }
}

async function waitFor(
  remote: Remote,
  ms: number,
  signal: AbortSignal,
): Promise<Exit | 'timeout' | 'aborted'> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), ms);
  });
  try {
    return await abortable(Promise.race([remote.ended, timeout]), signal);
  } catch {
    // Nothing but the signal makes this fail.
    return 'aborted';
  } finally {
    clearTimeout(timer);
  }
}

function result(exit: NonNullable<Exit>, started: number, stdout: Capture, stderr: Capture): CommandResult {
  return {
    exit_code: exit.code,
    signal: exit.signal,
    stdout: stdout.text(),
    stderr: stderr.text(),
    stdout_truncated: stdout.truncated,
    stderr_truncated: stderr.truncated,
    duration_ms: Math.round(performance.now() - started),
    timed_out: false,
  };
}

function changeDirectory(cwd: string | undefined): string {
  if (cwd === undefined) return '';
  const [, home = '', rest = ''] = /^(~(?:\/|$))?(.*)$/s.exec(cwd) ?? [];
  // A leading dash would be read as an option, or as "the directory before".
  const path = home + (rest === '' ? '' : quoted(rest.startsWith('-') && home === '' ? `./${rest}` : rest));
  return `cd -- ${path} || exit 1; `;
}

/** One word to POSIX shells and to fish, which reads a backslash inside single quotes differently. */
function quoted(text: string): string {
  const inner = text.replaceAll(/['\\]/g, (char) => (char === "'" ? String.raw`'\''` : String.raw`'"\\"'`));
  return `'${inner}'`;
}

function cancelled(reason: unknown, ended: boolean): ToolError {
  const error = reason instanceof ToolError ? reason : new ToolError('cancelled', 'The call was cancelled.');
  const after = ended ? 'The command was ended on the device.' : STILL_RUNNING;
  return new ToolError(error.code, error.message, { hint: after });
}

function noChannel(target: Target): ToolError {
  const message = `${target.device} (${target.address}) opened no channel; the command was not started.`;
  return new ToolError('ssh_unreachable', message, {
    hint: 'The connection breaks off or the SSH server admits no sessions (MaxSessions); the call can be repeated safely.',
  });
}
