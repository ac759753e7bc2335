import { type ChildProcess, spawn } from 'node:child_process';

import { ToolError } from '../../core/errors.ts';

const LARGEST_ANSWER = 32 * 1024 * 1024;
const NEWLINE = 0x0a;
/** For a process that has answered to end by itself. */
const AFTERWARDS_MS = 1_000;

/** The version whose behaviour this folder relies on. */
export const VERSION = '0.41.2';

/** A process of the command-line tool, which does nothing until it is told on standard input what to do. */
export interface CliProcess {
  /** Whether it can still be told. */
  alive(): boolean;
  /**
   * Tells it what to do, once, and resolves with what it answered.
   * @param signal kills it
   * @throws ToolError `cli_not_found`, `too_large`, or `upstream_error` where it ends without an answer
   */
  finish(input: string, signal: AbortSignal): Promise<string>;
  /** Ends it, untold. */
  discard(): void;
}

/** @param program path of the native program */
export function launch(
  program: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): CliProcess {
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const answer = answerOf(child);
  // Whoever tells it what to do hears of it; a process that is never told fails unheard.
  answer.catch(() => {});
  // It may end without reading.
  child.stdin.on('error', () => {});
  const kill = () => child.kill('SIGKILL');
  return {
    alive: () => child.pid !== undefined && child.exitCode === null && child.signalCode === null,
    async finish(input, signal) {
      if (signal.aborted) kill();
      signal.addEventListener('abort', kill);
      child.stdin.end(input);
      try {
        return await answer;
      } finally {
        signal.removeEventListener('abort', kill);
      }
    },
    discard: kill,
  };
}

function answerOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let errors = '';
    child.stdout?.on('data', (chunk: Buffer) => {
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
        // The answer is one line. Its process takes a while yet to end, which need not be waited for.
        if (chunk.at(-1) === NEWLINE) {
          child.stdout?.removeAllListeners('data').resume();
          resolve(Buffer.concat(chunks).toString('utf8'));
          setTimeout(() => child.kill('SIGKILL'), AFTERWARDS_MS).unref();
        }
      }
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      if (errors.length < 2000) errors += chunk.toString();
    });
    child.on('error', (error: NodeJS.ErrnoException) => reject(error.code === 'ENOENT' ? notFound() : error));
    child.on('close', (code, signal) => {
      const answer = Buffer.concat(chunks).toString('utf8');
      if (answer !== '') resolve(answer);
      else reject(unusable(errors || `it ended with ${signal ?? code}`));
    });
  });
}

export const notFound = () =>
  new ToolError('cli_not_found', 'Tool not found: agent-browser is not installed on the server.', {
    hint: `Install it on the server: npm i -g agent-browser@${VERSION}`,
  });

export function unusable(what: string): ToolError {
  return new ToolError('upstream_error', `agent-browser did not answer as expected: ${what.slice(0, 500)}`, {
    hint: `The server is built for agent-browser ${VERSION}: npm i -g agent-browser@${VERSION}`,
  });
}
