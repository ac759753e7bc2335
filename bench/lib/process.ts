import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { createConnection, createServer, type AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Servers run on the first core and what drives them on the second, where there are two and `taskset`. */
const pinned = cpus().length > 1 && spawnSync('taskset', ['-pc', '1', String(process.pid)]).status === 0;

export interface ServerProcess {
  port: number;
  /** Resident memory in MB. */
  rss(): number;
  /** CPU time used until now, in ms. */
  cpu(): number;
  stop(): Promise<void>;
}

export interface ServerCommand {
  /** The script and its arguments, for Node. */
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** Where its log goes. */
  log?: string;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Starts a Node server with PORT set, on the servers' core, and waits until it takes connections. */
export async function startServer({ args, env, cwd, log }: ServerCommand): Promise<ServerProcess> {
  const port = await freePort();
  const command = [...(pinned ? ['taskset', '-c', '0'] : []), process.execPath, ...args];
  // A log on disk costs what a log costs; one in a pipe would have to be read by the process that measures.
  const stderr = log === undefined ? 'ignore' : openSync(log, 'w');
  const child = spawn(command[0] ?? '', command.slice(1), {
    cwd,
    env: { PATH: process.env['PATH'], PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', stderr],
  });
  await untilOpen(port, child, log);
  return {
    port,
    rss: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    cpu() {
      // Fields 14 and 15 of stat, in hundredths of a second; the name in parentheses may hold spaces.
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(kill);
    },
  };
}

/** @throws when the process ends first */
async function untilOpen(port: number, child: ChildProcess, log: string | undefined): Promise<void> {
  while (child.exitCode === null) {
    const socket = createConnection(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return;
    await wait(20);
  }
  const text = log === undefined ? '' : readFileSync(log, 'utf8').slice(-1_000);
  throw new Error(`a server ended before it listened: ${child.spawnargs.join(' ')}\n${text}`);
}
