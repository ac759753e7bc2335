#!/usr/bin/env node
/**
 * The only file that reads the environment and the arguments, handles signals and ends the process. It reads the
 * SSH key and gives up root first, and only then loads the rest.
 */
import { existsSync, readFileSync } from 'node:fs';

import { dropPrivileges, readKeyFile } from './cli/privileges.ts';
import { gatherLines } from './core/log.ts';

const USAGE = `Usage: remote-tool-server [command]

Commands:
  serve    start the server (the default)
  health   ask the running server whether it is well; exit 0 or 1
  doctor   look at everything the server depends on, one line each; --json; exit 1 on a fail
  audit    verify | tail: check or read the audit log; audit --help says more

Options:
  --version, --help
`;

/** The YAML file's text, read anew at each reload; undefined where there is no file. @throws the system's error */
function readYaml(): { name: string; text: string } | undefined {
  const name = process.env['SERVICE_CONFIG_PATH'] || './service.config.yaml';
  return existsSync(name) ? { name, text: readFileSync(name, 'utf8') } : undefined;
}

async function serve(): Promise<void> {
  const key = readKeyFile(process.env['SSH_KEY_PATH'] || '/root/.ssh/service-key');
  const { warning } = dropPrivileges(process.env['RUN_AS']);

  const log = gatherLines((text) => process.stderr.write(text));
  // However it ends, and be it by an exception: the last lines say why.
  process.on('exit', log.flush);
  const { startServer, StartError } = await import('./cli/serve.ts');
  const starting = startServer({
    env: process.env,
    readYaml,
    key,
    warnings: warning === undefined ? [] : [warning],
    write: log.write,
    announce: (text) => process.stdout.write(text),
  });

  // Handled from before the server announces itself: whoever reads that may send a signal at once.
  let stopping = false;
  const stop = () => {
    // A second signal means now.
    if (stopping) process.exit(130);
    stopping = true;
    starting
      .then((server) => server.stop())
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => void starting.then((server) => server.reload()));

  await starting.catch((error: unknown) => {
    log.flush();
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  });
}

/** As the server does: the key first, then no root any more, and only then the rest. */
async function doctor(args: readonly string[]): Promise<void> {
  const json = args[0] === '--json';
  const unknown = args[json ? 1 : 0];
  if (unknown !== undefined) {
    process.stderr.write(`doctor: unknown argument ${unknown}; it knows --json\n`);
    process.exitCode = 2;
    return;
  }
  const key = readKeyFile(process.env['SSH_KEY_PATH'] || '/root/.ssh/service-key');
  const warnings: string[] = [];
  try {
    const { warning } = dropPrivileges(process.env['RUN_AS']);
    if (warning !== undefined) warnings.push(warning);
  } catch (error) {
    // The rest is not looked at: as root it would be another look than the server's.
    const detail = (error as Error).message;
    const findings = [{ name: 'configuration', status: 'fail', detail }];
    process.stdout.write(json ? `${JSON.stringify(findings)}\n` : `fail  configuration: ${detail}\n`);
    process.exitCode = 1;
    return;
  }
  const { runDoctor } = await import('./cli/doctor.ts');
  const code = await runDoctor({
    env: process.env,
    readYaml,
    key,
    warnings,
    json,
    write: (text) => process.stdout.write(text),
  });
  // Not process.exit at once: a pipe may not have taken the text yet. What a check left behind must not keep us.
  process.stdout.write('', () => process.exit(code));
}

async function main(): Promise<void> {
  // Without containers the settings come from a file beside the server; the real environment wins over it.
  if (existsSync('.env')) process.loadEnvFile('.env');
  const command = process.argv[2] ?? 'serve';
  switch (command) {
    case 'serve':
      return serve();
    case 'doctor':
      return doctor(process.argv.slice(3));
    case 'health': {
      const { askHealth } = await import('./cli/health.ts');
      const answer = await askHealth(process.env);
      process.stdout.write(`${answer.message}\n`);
      process.exitCode = answer.ok ? 0 : 1;
      return;
    }
    case 'audit': {
      // The log belongs to the account that the server runs as, and root without capabilities cannot read it.
      dropPrivileges(process.env['RUN_AS']);
      const { runAudit } = await import('./cli/audit.ts');
      // Whoever reads the output may have seen enough: `audit tail | head`.
      process.stdout.on('error', () => process.exit(0));
      process.exitCode = await runAudit({
        args: process.argv.slice(3),
        env: process.env,
        readYaml,
        write: (text) => process.stdout.write(text),
        writeError: (text) => process.stderr.write(text),
      });
      return;
    }
    case '--version': {
      const { VERSION } = await import('./core/version.ts');
      process.stdout.write(`${VERSION}\n`);
      return;
    }
    case '--help':
      process.stdout.write(USAGE);
      return;
    default:
      process.stderr.write(`Unknown command: ${command}\n\n${USAGE}`);
      process.exitCode = 2;
  }
}

await main();
