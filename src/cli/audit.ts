import { parseArgs } from 'node:util';

import { deriveKeys } from '../audit/chain.ts';
import { auditSettings } from '../audit/settings.ts';
import { verifyAudit } from '../audit/verify.ts';
import { allSettings } from '../config/schema.ts';
import { parseYaml } from '../config/yaml.ts';
import { messageOf } from '../core/errors.ts';
import { tailAudit } from './audit-tail.ts';
import { verificationText } from './audit-text.ts';

export interface AuditCommand {
  /** What follows `audit` on the command line. */
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  readYaml: () => { name: string; text: string } | undefined;
  write: (text: string) => void;
  writeError: (text: string) => void;
  /** Ends `tail --follow`. */
  signal?: AbortSignal;
}

const USAGE = `Usage: remote-tool-server audit verify [file...]
       remote-tool-server audit tail [--follow] [--tool NAME] [--json] [-n LINES]

verify   check every record of the log and its rotated files; exit 0, or 1 with the first bad line.
         Needs MCP_SECRET, and MCP_SECRET_PREVIOUS (or several, comma-separated) for what older secrets wrote.
tail     the last calls (20), one line each; --json: the records as they are in the file
`;

/** Runs `audit …`. Needs no more of the configuration than the log's path and the secrets. @returns the exit code */
export async function runAudit(command: AuditCommand): Promise<number> {
  const { args, write, writeError } = command;
  try {
    switch (args[0]) {
      case 'verify':
        return await verify(command);
      case 'tail':
        return await tail(command);
      case '--help':
        write(USAGE);
        return 0;
      default:
        throw new UsageError(args[0] === undefined ? 'audit: what?' : `Unknown command: audit ${args[0]}`);
    }
  } catch (error) {
    const misused = error instanceof UsageError;
    writeError(misused ? `${error.message}\n\n${USAGE}` : `${explain(error)}\n`);
    return misused ? 2 : 1;
  }
}

class UsageError extends Error {}

async function verify(command: AuditCommand): Promise<number> {
  const { env, args } = command;
  const { positionals } = parse(args.slice(1), {});
  const secret = env['MCP_SECRET'] ?? '';
  if (secret === '')
    throw new Error('MCP_SECRET is not set; the key that verifies the log is derived from it.');
  const previous = env['MCP_SECRET_PREVIOUS'] ?? '';
  // As a whole too: a secret may hold a comma.
  const keys = deriveKeys([secret, previous, ...previous.split(',')]);
  const result = await verifyAudit(pathOf(command), keys, positionals);
  command.write(verificationText(result));
  return result.ok ? 0 : 1;
}

async function tail(command: AuditCommand): Promise<number> {
  const { values, positionals } = parse(command.args.slice(1), {
    follow: { type: 'boolean', short: 'f', default: false },
    json: { type: 'boolean', default: false },
    tool: { type: 'string' },
    lines: { type: 'string', short: 'n', default: '20' },
  });
  if (positionals.length > 0) throw new UsageError(`audit tail takes no file: ${positionals.join(' ')}`);
  const { follow, json, tool, lines } = values as {
    follow: boolean;
    json: boolean;
    tool?: string;
    lines: string;
  };
  if (!/^\d{1,9}$/.test(lines)) throw new UsageError(`-n: expected a number of lines, got "${lines}"`);
  await tailAudit(pathOf(command), {
    follow,
    json,
    lines: Number(lines),
    ...(tool !== undefined && { tool }),
    write: command.write,
    ...(command.signal && { signal: command.signal }),
  });
  return 0;
}

type Options = NonNullable<Parameters<typeof parseArgs>[0]>['options'];

function parse(args: string[], options: NonNullable<Options>) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

/** The log's path from the environment, the YAML file or the default, without asking for the rest of the settings. */
function pathOf({ env, readYaml }: AuditCommand): string {
  const { env: name, yaml: key = '', defaultText } = auditSettings.path;
  const given = env[name];
  if (given !== undefined && given !== '') return given;
  const file = readYaml();
  if (file === undefined) return defaultText;
  const faults: string[] = [];
  const keys = allSettings().flatMap(([, , { yaml }]) => (yaml === undefined ? [] : [yaml]));
  const value = parseYaml(file.text, file.name, keys, faults).get(key);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return typeof value === 'string' ? value : defaultText;
}

function explain(error: unknown): string {
  const { code, path } = error as NodeJS.ErrnoException;
  if (path === undefined) return messageOf(error);
  if (code === 'ENOENT') return `There is no audit log at ${path}.`;
  return `The audit log ${path} cannot be read (${code}).`;
}
