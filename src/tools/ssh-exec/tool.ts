import * as z from 'zod';

import { ToolError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { type Tool, defineTool } from '../../core/tool.ts';
import type { Device, Mesh } from '../../mesh/device.ts';
import { createKnownHosts } from './known-hosts.ts';
import { decideSsh } from './policy.ts';
import { createPool } from './pool.ts';
import { runCommand } from './run-command.ts';
import type { SshSettings } from './settings.ts';
import { type Target, connect } from './ssh.ts';

/** Linux takes 131,072 bytes for one argument of a program; the rest is room for `cd` and our own words. */
const LONGEST_COMMAND = 120 * 1024;
const LONGEST_CWD = 1024;
/** The policy reads stdin, so it has to stay readable in milliseconds. */
const LONGEST_STDIN = 1024 * 1024;
const DEFAULT_OUTPUT = 32 * 1024;
const LONGEST_OUTPUT = 256 * 1024;
const DEFAULT_TIMEOUT_SECONDS = 60;
const LONGEST_TIMEOUT_SECONDS = 3600;
/** For the mesh's answer, and for ending the command on the device. */
const MARGIN_MS = 30_000;

const input = z.strictObject({
  device: text(255).optional().describe('Name, DNS name or mesh address.'),
  command: text(LONGEST_COMMAND)
    .optional()
    .describe('Shell command; needed, as is device, unless job is given.'),
  user: z
    .string()
    .regex(/^[A-Za-z0-9_][A-Za-z0-9._@-]{0,63}$/, 'expected a user name')
    .optional()
    .describe('Login; default set by the operator.'),
  cwd: text(LONGEST_CWD).optional().describe('Directory to run in; default: the home.'),
  stdin: limited(LONGEST_STDIN).optional().describe('Text for standard input.'),
  timeout_seconds: z
    .number()
    .min(1)
    .max(LONGEST_TIMEOUT_SECONDS)
    .default(DEFAULT_TIMEOUT_SECONDS)
    .describe('Ends the command after this.'),
  max_output_bytes: z
    .number()
    .min(1)
    .max(LONGEST_OUTPUT)
    .default(DEFAULT_OUTPUT)
    .describe('Kept per stream, head and tail.'),
  wait_seconds: z
    .number()
    .min(0)
    .max(LONGEST_TIMEOUT_SECONDS)
    .optional()
    .describe('After this, go on as a job.'),
  dry_run: z.boolean().optional().describe('True: check and log, run nothing.'),
  job: z.string().max(64).optional().describe('Job to read new output of.'),
  cancel: z.boolean().optional().describe('With job: end it.'),
});

const output = z.object({
  device: z.string(),
  address: z.string().nullable(),
  user: z.string(),
  command: z.string(),
  exit_code: z.number().nullable(),
  signal: z.string().nullable(),
  stdout: z.string(),
  stderr: z.string(),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
  duration_ms: z.number(),
  dry_run: z.boolean(),
  timed_out: z.boolean(),
  hint: z.string().optional(),
  job: z.string().optional(),
  blocked: z.boolean().optional(),
  matched_rule: z.string().optional(),
  reason: z.string().optional(),
  path: z.string().optional(),
});

export interface SshExecParts {
  settings: SshSettings;
  mesh: Mesh;
  /** The key's text; undefined leaves the SSH method "none" alone. */
  privateKey: Buffer | string | undefined;
  log: Log;
}

/**
 * The tool that runs commands on devices of the mesh network. Dry-run resolves nothing and connects nowhere;
 * an offline device fails before anything is sent to it.
 */
export function createSshExec({ settings, mesh, privateKey, log }: SshExecParts): Tool {
  const knownHosts = createKnownHosts(settings.knownHostsPath);
  const timeoutMs = settings.connectTimeoutSeconds * 1000;
  const pool = createPool(async (target, signal) => {
    const connection = await connect(target, { knownHosts, privateKey, timeoutMs }, signal);
    log.info('ssh connected', { device: target.device, address: target.address, user: target.user });
    return connection;
  });

  return defineTool({
    name: 'ssh_exec',
    title: 'Run a command on a device',
    description:
      'Runs a shell command on a device of the mesh over SSH and returns its output and exit code. mesh_status lists devices. Example: {"device":"web-1","command":"df -h","cwd":"/srv"}.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    input,
    output,
    decide: (call) => {
      const error = unusable(call);
      if (error) return { verdict: 'refuse', rule: error.code, error };
      return decideSsh({ ...call, command: call.command ?? '' }, settings);
    },
    deadlineMs: (call) => 2 * call.timeout_seconds * 1000 + timeoutMs + MARGIN_MS,
    run: async (call, context) => {
      const { device: name = '', command = '', user = settings.defaultUser } = call;
      if (context.dryRun) {
        context.log.info('dry run of ssh_exec', { id: context.id, device: name, user, command });
        return { value: { ...NOTHING_RAN, device: name, user, command } };
      }
      const device = await mesh.device(name, context.signal);
      const target = targetFor(device, name, user, settings.port);
      const result = await runCommand(
        pool,
        target,
        {
          command,
          cwd: call.cwd,
          stdin: call.stdin,
          timeoutMs: call.timeout_seconds * 1000,
          maxBytes: Math.floor(call.max_output_bytes),
        },
        context.signal,
      );
      return {
        value: { device: device.name, address: target.address, user, command, dry_run: false, ...result },
      };
    },
    close: () => pool.close(),
  });
}

const NOTHING_RAN = {
  address: null,
  exit_code: null,
  signal: null,
  stdout: '',
  stderr: '',
  stdout_truncated: false,
  stderr_truncated: false,
  duration_ms: 0,
  dry_run: true,
  timed_out: false,
};

function unusable(call: z.output<typeof input>): ToolError | undefined {
  if (call.job !== undefined || call.cancel !== undefined || call.wait_seconds !== undefined) {
    const sentence = 'Jobs are not available in this version; raise timeout_seconds instead.';
    return new ToolError('not_available', sentence);
  }
  const missing = (['device', 'command'] as const).filter((name) => call[name] === undefined);
  if (missing.length === 0) return undefined;
  const message = `ssh_exec needs ${missing.map((name) => `"${name}"`).join(' and ')}.`;
  return new ToolError('invalid_input', message, { hint: 'Example: {"device":"web-1","command":"uptime"}.' });
}

/** Where a device's commands run. @throws ToolError `device_offline`, `ssh_unreachable` without an address */
export function targetFor(device: Device, asked: string, user: string, port: number): Target {
  if (!device.online) {
    const seen = device.last_seen === null ? '' : `; last seen ${device.last_seen}`;
    throw new ToolError('device_offline', `${device.name} is offline${seen}.`, {
      hint: 'Nothing was sent. mesh_status with online_only lists the devices that can be reached.',
    });
  }
  const address =
    device.addresses.find((each) => each.toLowerCase() === asked.toLowerCase()) ??
    device.addresses.find((each) => !each.includes(':')) ??
    device.addresses[0];
  if (address === undefined) {
    throw new ToolError('ssh_unreachable', `${device.name} has no mesh address.`, {
      hint: 'Its entry in the mesh network lacks one; see mesh_status.',
    });
  }
  return { device: device.name, names: [device.dns_name ?? device.name, address], address, port, user };
}

/** A text of at least one character that can travel in a command line. */
function text(mostBytes: number): z.ZodString {
  return limited(mostBytes)
    .min(1, 'it is empty')
    .refine((value) => !value.includes('\0'), 'it holds a NUL character, which no command line can');
}

function limited(mostBytes: number): z.ZodString {
  return z.string().refine((value) => Buffer.byteLength(value) <= mostBytes, {
    error: ({ input: value }) =>
      `${Buffer.byteLength(String(value)).toLocaleString('en')} bytes are too long; the limit is ${mostBytes.toLocaleString('en')}`,
  });
}
