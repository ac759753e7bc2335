import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { findNative } from './agent-browser.ts';

const run = promisify(execFile);

/**
 * Asks the browser's command-line tool for its version.
 * @param path the PATH on which it is looked for
 * @throws ToolError `cli_not_found`; the system's error where it cannot be run
 */
export async function browserCliVersion(
  path: string | undefined,
  signal: AbortSignal,
): Promise<{ program: string; version: string }> {
  const program = await findNative(path);
  // Built from nothing, as where it is used: the server's secrets are none of its business.
  const { stdout } = await run(program, ['--version'], { env: { PATH: path ?? '' }, signal });
  return { program, version: /\d+(?:\.\d+)+\S*/.exec(stdout)?.[0] ?? stdout.trim() };
}
