import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, readFile, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

import { ToolError } from '../../core/errors.ts';

/** The version whose behaviour this file relies on. */
export const VERSION = '0.41.2';
/** Above every limit of a call, so that the call's own is the one that counts. */
const LONGEST_WAIT_MS = 130_000;
const LARGEST_ANSWER = 32 * 1024 * 1024;

/** One command of the tool and its arguments, as on its command line. */
export type Command = readonly string[];

/** What became of one command of a batch. */
export interface Step {
  success: boolean;
  result: Record<string, unknown> | null;
  error: string | null;
  /** `tab_gone`, `page_wedged`, … */
  code?: string;
}

export interface RunOptions {
  /** The tool's name of the session; letters and digits. */
  session: string;
  /** The browser's HTTP endpoint. Without one the tool would launch a browser of its own. */
  cdp: string;
  /** Keep to the session's tab, whatever other tabs there are. */
  pinned: boolean;
  /** Image format of a screenshot. */
  format?: 'png' | 'jpeg';
  /** JPEG quality of a screenshot, 1 to 100. */
  quality?: number;
  /** Kills the tool's process, not its daemon: see `kill`. */
  signal: AbortSignal;
}

/**
 * The command-line tool agent-browser: one process an action, which talks to a daemon of the session. Its behaviour
 * was measured, not only read: reference is version 0.41.2.
 */
export interface AgentBrowser {
  /**
   * Runs commands one after another, up to the first that fails.
   * @throws ToolError `cli_not_found`; `too_large`; `upstream_error` when the tool answers something else
   */
  run(commands: readonly Command[], options: RunOptions): Promise<Step[]>;
  /** Ends a session's daemon at once and forgets what it kept. */
  kill(session: string): Promise<void>;
  /** A new path for a file that the tool is to write, in a directory of this server's user alone. */
  file(): string;
  /** Ends all daemons and removes all files. */
  close(): Promise<void>;
}

/** @param idleMs after which a daemon ends by itself, so that none outlives a server that was killed for long */
export function createAgentBrowser(path: string | undefined, idleMs: number): AgentBrowser {
  let home: Promise<string> | undefined;
  let directory = '';

  async function prepare(): Promise<string> {
    // Short, because a UNIX socket's path may have about 100 characters.
    directory = await mkdtemp(join(tmpdir(), 'rts-'));
    await Promise.all(['home', 'run', 'out'].map((name) => mkdir(join(directory, name), { mode: 0o700 })));
    return directory;
  }

  return {
    async run(commands, options) {
      const program = await findNative(path);
      const root = await (home ??= prepare());
      // Built from nothing: the server's secrets are none of its business, and a proxy setting would break it.
      const env = {
        PATH: path ?? '',
        HOME: join(root, 'home'),
        AGENT_BROWSER_SOCKET_DIR: join(root, 'run'),
        AGENT_BROWSER_CDP: options.cdp,
        AGENT_BROWSER_IDLE_TIMEOUT_MS: String(idleMs),
        // Dialogs are answered by one side only, and that is ours: two would answer a second dialog unseen.
        AGENT_BROWSER_NO_AUTO_DIALOG: '1',
        AGENT_BROWSER_DEFAULT_TIMEOUT: String(LONGEST_WAIT_MS),
        AGENT_BROWSER_NO_WEBMCP: '1',
        AGENT_BROWSER_NO_VERSION_CHECK: '1',
        ...(options.pinned && { AGENT_BROWSER_PIN_TAB: '1' }),
        ...(options.format && { AGENT_BROWSER_SCREENSHOT_FORMAT: options.format }),
        ...(options.quality && { AGENT_BROWSER_SCREENSHOT_QUALITY: String(options.quality) }),
      };
      // On the command line there are no values of a caller's: the tool has no "--", and takes what looks like an
      // option for one wherever it stands.
      const args = ['--session', options.session, '--json', 'batch', '--bail', '--omit-command'];
      const stdin = JSON.stringify(commands);
      return steps(await execute(program, args, { cwd: root, env, stdin, signal: options.signal }));
    },

    async kill(session) {
      const run = join(directory, 'run');
      const pid = Number(await readFile(join(run, `${session}.pid`), 'utf8').catch(() => ''));
      if (pid > 1) killQuietly(pid);
      const files = await readdir(run).catch(() => []);
      await Promise.all(
        files
          .filter((name) => name.startsWith(`${session}.`))
          .map((name) => rm(join(run, name), { force: true })),
      );
    },

    file: () => join(directory, 'out', randomUUID()),

    async close() {
      if (!home) return;
      await home;
      const files = await readdir(join(directory, 'run')).catch(() => []);
      const sessions = files.filter((name) => name.endsWith('.pid')).map((name) => name.slice(0, -4));
      await Promise.all(sessions.map((session) => this.kill(session)));
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

const notFound = () =>
  new ToolError('cli_not_found', 'Tool not found: agent-browser is not installed on the server.', {
    hint: `Install it on the server: npm i -g agent-browser@${VERSION}`,
  });

/**
 * The native program behind the npm package's launcher, which costs 45 to 84 ms a call. Linked to directly where
 * the package's install script ran.
 * @throws ToolError `cli_not_found`
 */
export async function findNative(path: string | undefined): Promise<string> {
  for (const folder of (path ?? '').split(delimiter)) {
    if (folder === '') continue;
    const found = await realpath(join(folder, 'agent-browser')).catch(() => undefined);
    if (found === undefined || !(await executable(found))) continue;
    if (!found.endsWith('.js')) return found;
    const names = [`agent-browser-${process.platform}-${process.arch}`];
    if (process.platform === 'linux') names.push(`agent-browser-linux-musl-${process.arch}`);
    for (const name of names) {
      const native = join(dirname(found), name);
      if (await executable(native)) return native;
    }
    return found;
  }
  throw notFound();
}

async function executable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

interface Execution {
  cwd: string;
  env: Record<string, string>;
  stdin: string;
  signal: AbortSignal;
}

function execute(program: string, args: string[], { stdin, ...options }: Execution): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...options,
      stdio: ['pipe', 'pipe', 'pipe'],
      killSignal: 'SIGKILL',
    });
    const chunks: Buffer[] = [];
    let size = 0;
    let errors = '';
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > LARGEST_ANSWER) {
        child.kill('SIGKILL');
        reject(
          new ToolError('too_large', 'The page is too large to be read whole.', {
            hint: 'Name a part of it with ref.',
          }),
        );
      } else {
        chunks.push(chunk);
      }
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (errors.length < 2000) errors += chunk.toString();
    });
    child.on('error', (error: NodeJS.ErrnoException) => reject(error.code === 'ENOENT' ? notFound() : error));
    child.on('close', (code, signal) => {
      const answer = Buffer.concat(chunks).toString('utf8');
      if (answer !== '') resolve(answer);
      else reject(unusable(errors || `it ended with ${signal ?? code}`));
    });
    // It may end without reading.
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
  });
}

function unusable(what: string): ToolError {
  return new ToolError('upstream_error', `agent-browser did not answer as expected: ${what.slice(0, 500)}`, {
    hint: `The server is built for agent-browser ${VERSION}: npm i -g agent-browser@${VERSION}`,
  });
}

function steps(answer: string): Step[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(answer);
  } catch {
    throw unusable(answer);
  }
  if (Array.isArray(parsed)) return parsed as Step[];
  // What fails before the first command is one object.
  const { error } = parsed as { error?: unknown };
  if (typeof error !== 'string') throw unusable(answer);
  return [{ success: false, result: null, error, ...(parsed as { code?: string }) }];
}
