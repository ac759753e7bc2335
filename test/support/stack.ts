import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

import { Agent, fetch as undiciFetch } from 'undici';
import { inject } from 'vitest';

import type { ToolAnswer } from './server.ts';

const run = promisify(execFile);
const LARGEST_OUTPUT = 64 * 1024 * 1024;

export const stack = inject('stack');
export const url = `${stack.base}/mcp?token=${stack.secret}`;

const throughCaddy = new Agent({
  connect: { ca: readFileSync(stack.caFile, 'utf8') },
  headersTimeout: 120_000,
});

/** fetch that trusts Caddy's own authority. */
export const secureFetch = ((input: string | URL, init?: RequestInit) =>
  undiciFetch(input, { ...(init as object), dispatcher: throughCaddy })) as unknown as typeof fetch;

/** POSTs a JSON-RPC body through Caddy, without an Accept header of its own. */
export function post(body: unknown, init: RequestInit = {}): Promise<Response> {
  return secureFetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    ...init,
    headers: { 'content-type': 'application/json', ...(init.headers as Record<string, string>) },
  });
}

/** tools/call through Caddy. */
export async function call(tool: string, args: unknown, init: RequestInit = {}): Promise<ToolAnswer> {
  const params = { name: tool, arguments: args };
  const response = await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, init);
  const { result, error } = (await response.json()) as { result?: ToolAnswer; error?: unknown };
  if (result === undefined) throw new Error(`no result: ${JSON.stringify(error)}`);
  return result;
}

/** Runs docker; resolves with standard output and standard error together. */
export async function docker(...args: string[]): Promise<string> {
  const { stdout, stderr } = await run('docker', args, {
    env: { ...process.env, ...stack.composeEnv },
    maxBuffer: LARGEST_OUTPUT,
  });
  return stdout + stderr;
}

/** The name of a service's container. */
export const container = (service: string): string => `${stack.project}-${service}-1`;

/** Runs a command in a service's container, as whatever user. */
export const inside = (service: string, command: string, user = '0'): Promise<string> =>
  docker('exec', '--user', user, container(service), 'sh', '-c', command);

/**
 * Has the server read its YAML file again. Not by the engine's own `kill`: it takes any signal for a stop by hand, and
 * does not start the container again after a crash.
 */
export const hangUp = (): Promise<string> => inside('server', 'kill -HUP 1');

export const healthy = async (service: string): Promise<boolean> =>
  (await docker('inspect', '--format', '{{.State.Health.Status}}', container(service))).trim() === 'healthy';
