import { type AddressInfo } from 'node:net';

import { createApp } from '../app.ts';
import { ConfigError, loadConfig, type Loaded } from '../config/load.ts';
import { applyReload } from '../config/reload.ts';
import { ToolError, messageOf } from '../core/errors.ts';
import { createLog } from '../core/log.ts';
import { SERVER_NAME, VERSION } from '../core/version.ts';
import { createRedactor } from '../gate/redact.ts';
import { listen } from '../http/listen.ts';
import { keyFault } from '../tools/ssh-exec/key.ts';
import { loadDeferred } from './deferred.ts';
import type { KeyFile } from './privileges.ts';

export interface StartOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Reads the YAML file; undefined where there is none. */
  readYaml?: () => { name: string; text: string } | undefined;
  key: KeyFile;
  warnings: readonly string[];
  /** Takes lines for the log. */
  write: (text: string) => void;
  /** Takes the message of a successful start. */
  announce: (text: string) => void;
}

export interface RunningServer {
  port: number;
  /** Reads the configuration again and puts what may change while running in force; says so in the log. */
  reload(): void;
  /** Lets calls under way end (10 s), then closes what is left. */
  stop(): Promise<void>;
}

/** Why the server did not start, in sentences for its operator. */
export class StartError extends Error {}

const GRACE_MS = 10_000;
/** Behind the first answers, and long before most first calls. */
const DEFERRED_MS = 1_000;

/** @throws StartError naming everything that is wrong */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  const { config, sources, secrets, warnings } = await configure(options);
  const redact = createRedactor(secrets);
  const log = createLog(options.write, redact);
  for (const warning of [...options.warnings, ...warnings]) log.warn(warning);
  if (options.key.state === 'missing') {
    log.warn(
      `No SSH key at ${options.key.path}: only devices that accept the SSH method "none" can be reached.`,
    );
  }

  const privateKey = options.key.state === 'read' ? options.key.text : undefined;
  const app = await createApp({
    config,
    sources,
    privateKey,
    secrets,
    redact,
    path: options.env['PATH'],
    log,
  }).catch((error: unknown) => {
    throw error instanceof ToolError ? new StartError(error.message) : error;
  });
  const { host, port } = config.server;
  const server = await listen(app.fetch, { host, port }).catch(async (error: NodeJS.ErrnoException) => {
    await app.close();
    throw new StartError(cannotListen(error, host, port));
  });

  const address = `http://localhost:${(server.address() as AddressInfo).port}`;
  options.announce(
    `${SERVER_NAME} ${VERSION} listens on ${address}\n` +
      `  POST ${address}/mcp?token=<MCP_SECRET>\n` +
      `  GET  ${address}/health?token=<MCP_SECRET>\n`,
  );

  const deferred = setTimeout(() => {
    loadDeferred().catch((error: unknown) => log.error('a library is missing', { reason: messageOf(error) }));
  }, DEFERRED_MS).unref();

  return {
    port: (server.address() as AddressInfo).port,
    reload() {
      try {
        const fresh = load(options);
        const { applied, pending } = applyReload(config, fresh.config);
        for (const name of applied) moveEntry(name, fresh.sources, sources);
        log.info('configuration read again', { applied, need_restart: pending });
      } catch (error) {
        const faults = error instanceof ConfigError ? error.faults : [messageOf(error)];
        log.error('configuration not taken over; the one before stays in force', { faults });
      }
    },
    async stop() {
      clearTimeout(deferred);
      log.info('stopping', { grace_seconds: GRACE_MS / 1000 });
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await app.settle(GRACE_MS);
      // Answers of the calls just ended are still on their way out; what stays open after that is idle or stuck.
      const stuck = setTimeout(() => 'closeAllConnections' in server && server.closeAllConnections(), 1_000);
      await closed;
      clearTimeout(stuck);
      await app.close();
      log.info('stopped');
    },
  };
}

/** @throws ConfigError */
function load({ env, readYaml }: StartOptions): Loaded {
  let yaml: { name: string; text: string } | undefined;
  try {
    yaml = readYaml?.();
  } catch (error) {
    throw new ConfigError([`The YAML file cannot be read: ${messageOf(error)}`]);
  }
  return loadConfig(env, yaml?.text, yaml?.name);
}

/** Configuration and key together, so that every fault is told at once. */
async function configure(options: StartOptions): Promise<Loaded> {
  const { key } = options;
  const faults: string[] = [];
  let loaded: Loaded | undefined;
  try {
    loaded = load(options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    faults.push(...error.faults);
  }
  const fault =
    key.state === 'fault' ? key.message : key.state === 'read' ? await keyFault(key.text) : undefined;
  if (fault !== undefined) faults.push(fault);
  if (loaded === undefined || faults.length > 0) throw new StartError(faults.join('\n'));
  return loaded;
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `PORT ${port} is already in use on ${host}. Stop what listens there, or set PORT to another one.`;
    case 'EACCES':
      return `PORT ${port} may not be listened on by this user. Choose one above 1023.`;
    default:
      return `Cannot listen on ${host}:${port}: ${messageOf(error)}`;
  }
}

function moveEntry<K, V>(key: K, from: ReadonlyMap<K, V>, to: Map<K, V>): void {
  const value = from.get(key);
  if (value === undefined) to.delete(key);
  else to.set(key, value);
}
