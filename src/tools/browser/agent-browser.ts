import { randomUUID } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

import { type CliProcess, launch, notFound, unusable } from './cli-process.ts';

/** Above every limit of a call, so that the call's own is the one that counts. */
const LONGEST_WAIT_MS = 130_000;
const DEFAULT_IMAGE = { format: 'png', quality: 80 };
/** For an answer to leave before the server starts another process, which holds it up for some milliseconds. */
const ANSWERED_MS = 20;

/**
 * A process for a session's next commands: starting one takes as long as most of what it is told to do. It waits for
 * its standard input, and acts on nothing before.
 */
interface Ready {
  env: string;
  timer: NodeJS.Timeout;
  process?: CliProcess;
}

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
  /** The process id of a session's daemon; undefined where none runs. */
  daemon(session: string): number | undefined;
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
  /** Looked for once; and again after a run that failed, which may be for want of it. */
  let program: string | undefined;
  const ready = new Map<string, Ready>();

  /** Starts a process for a session's next commands, once the answer to the last ones is on its way. */
  function getReady(session: string, env: string, start: () => CliProcess): void {
    if (ready.get(session)?.process?.alive()) return;
    discard(session);
    const entry: Ready = { env, timer: setTimeout(() => (entry.process = start()), ANSWERED_MS).unref() };
    ready.set(session, entry);
  }

  function discard(session: string): void {
    const entry = ready.get(session);
    clearTimeout(entry?.timer);
    entry?.process?.discard();
    ready.delete(session);
  }

  async function prepare(): Promise<string> {
    // Short, because a UNIX socket's path may have about 100 characters.
    directory = await mkdtemp(join(tmpdir(), 'rts-'));
    await Promise.all(['home', 'run', 'out'].map((name) => mkdir(join(directory, name), { mode: 0o700 })));
    return directory;
  }

  /** Read at once: five bytes of a file in memory, before every action. */
  function daemonOf(session: string): number | undefined {
    try {
      const pid = Number(readFileSync(join(directory, 'run', `${session}.pid`), 'utf8'));
      return pid > 1 ? pid : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    async run(commands, options) {
      const file = (program ??= await findNative(path));
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
        AGENT_BROWSER_SCREENSHOT_FORMAT: options.format ?? DEFAULT_IMAGE.format,
        AGENT_BROWSER_SCREENSHOT_QUALITY: String(options.quality ?? DEFAULT_IMAGE.quality),
      };
      // On the command line there are no values of a caller's: the tool has no "--", and takes what looks like an
      // option for one wherever it stands.
      const args = ['--session', options.session, '--json', 'batch', '--bail', '--omit-command'];
      const start = () => launch(file, args, { cwd: root, env });
      options.signal.throwIfAborted();
      const key = JSON.stringify(env);
      const waiting = ready.get(options.session);
      const prepared = waiting?.env === key && waiting.process?.alive() ? waiting.process : undefined;
      if (prepared) ready.delete(options.session);
      const answer = (prepared ?? start()).finish(JSON.stringify(commands), options.signal);
      const found = steps(
        await answer.catch((error: unknown) => {
          program = undefined;
          throw error;
        }),
      );
      // A run that is not pinned is the first of a tab. Where one failed, the session may be ending.
      if (options.pinned && found.every(({ success }) => success)) getReady(options.session, key, start);
      return found;
    },

    daemon: (session) => {
      const pid = daemonOf(session);
      return pid !== undefined && isRunning(pid) ? pid : undefined;
    },

    async kill(session) {
      discard(session);
      const run = join(directory, 'run');
      const pid = daemonOf(session);
      if (pid !== undefined) killQuietly(pid);
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
      for (const session of ready.keys()) discard(session);
      const files = await readdir(join(directory, 'run')).catch(() => []);
      const sessions = files.filter((name) => name.endsWith('.pid')).map((name) => name.slice(0, -4));
      await Promise.all(sessions.map((session) => this.kill(session)));
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

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
