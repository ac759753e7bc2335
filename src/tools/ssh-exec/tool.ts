import { ToolError } from '../../core/errors.ts';
import type { JobControl } from '../../core/jobs.ts';
import type { Log } from '../../core/log.ts';
import { type CallContext, type Tool, defineTool } from '../../core/tool.ts';
import type { Device, Mesh } from '../../mesh/device.ts';
import { createEnding } from './ending.ts';
import { Job } from './job.ts';
import { type Jobs, createJobs } from './jobs.ts';
import { createKnownHosts } from './known-hosts.ts';
import { decideSsh } from './policy.ts';
import { createPool } from './pool.ts';
import { runCommand } from './run-command.ts';
import { LIST, type SshCall, input, output, unusable } from './schema.ts';
import type { SshSettings } from './settings.ts';
import { type Target, connect } from './ssh.ts';

/** For the mesh's answer, and for ending the command on the device. */
const MARGIN_MS = 30_000;
/** More would fill an assistant's context with what is long over. */
const MOST_LISTED = 50;

export interface SshExecParts {
  settings: SshSettings;
  mesh: Mesh;
  /** The key's text; undefined leaves the SSH method "none" alone. */
  privateKey: Buffer | string | undefined;
  log: Log;
}

/** What the rest of the process sees of ssh_exec beside its calls. */
export interface SshExec extends Tool {
  readonly jobs: JobControl & { running(): number };
  /** SSH connections that are open. */
  connections(): number;
  /** Commands that are still being ended after their calls were answered. */
  unfinished(): number;
  /** Lets running jobs end, at most `graceMs`, then ends them and has it written to the audit log. */
  settle(graceMs: number): Promise<void>;
}

/**
 * The tool that runs commands on devices of the mesh network. Dry-run resolves nothing and connects nowhere;
 * an offline device fails before anything is sent to it.
 */
export function createSshExec({ settings, mesh, privateKey, log }: SshExecParts): SshExec {
  const knownHosts = createKnownHosts(settings.knownHostsPath);
  const timeoutMs = settings.connectTimeoutSeconds * 1000;
  const pool = createPool(async (target, signal) => {
    const connection = await connect(target, { knownHosts, privateKey, timeoutMs }, signal);
    log.info('ssh connected', { device: target.device, address: target.address, user: target.user });
    return connection;
  });
  const ending = createEnding(pool, log);
  const jobs = createJobs(() => settings.maxJobs);

  async function run(call: SshCall, context: CallContext) {
    const { device: name = '', command = '', user = settings.defaultUser } = call;
    if (context.dryRun) {
      context.log.info('dry run of ssh_exec', { id: context.id, device: name, user, command });
      return { ...NOTHING_RAN, device: name, user, command, dry_run: true };
    }
    const device = await mesh.device(name, context.signal);
    const target = targetFor(device, name, user, settings.port);
    const facts = { device: device.name, address: target.address, user, command };
    const maxBytes = Math.floor(call.max_output_bytes);
    const request = {
      command,
      cwd: call.cwd,
      stdin: call.stdin,
      timeoutMs: call.timeout_seconds * 1000,
      maxBytes,
    };
    const result = await jobs.start({
      facts,
      waitMs: waitMs(call),
      context,
      run: (signal, listener) => runCommand(pool, ending, target, request, signal, listener),
    });
    return result instanceof Job ? result.read(maxBytes) : { ...facts, dry_run: false, ...result };
  }

  const tool = defineTool({
    name: 'ssh_exec',
    title: 'Run a command on a device',
    description:
      'Runs a shell command over SSH on a device that mesh_status lists. Example: {"device":"web-1","command":"df -h","cwd":"/srv"}.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    input,
    output: output.partial(),
    untrusted: ['stdout', 'stderr'],
    decide: (call) => {
      const error = unusable(call);
      if (error) return { verdict: 'refuse', rule: error.code, error };
      // What a job does was decided when it was started.
      if (call.job !== undefined) return { verdict: 'allow' };
      return decideSsh({ ...call, command: call.command ?? '' }, settings);
    },
    deadlineMs: (call) => {
      if (call.job !== undefined) return (call.wait_seconds ?? 0) * 1000 + MARGIN_MS;
      const commandMs = call.timeout_seconds * 1000;
      // The wait for a free channel may take as long as the command.
      return commandMs + (waitMs(call) ?? commandMs) + timeoutMs + MARGIN_MS;
    },
    run: async (call, context) => {
      if (call.job === undefined) return { value: await run(call, context) };
      return { value: call.job === LIST ? listed(jobs) : await readJob(jobs, call.job, call, context) };
    },
    close: async () => {
      await ending.close();
      await pool.close();
    },
  });
  return {
    ...tool,
    jobs,
    connections: () => pool.size(),
    unfinished: () => ending.unfinished(),
    settle: (graceMs) => jobs.settle(graceMs),
  };
}

/** How long a call stays with its command; undefined where that is until its end. */
function waitMs({ wait_seconds: wait, timeout_seconds: timeout }: SshCall): number | undefined {
  return wait === undefined || wait >= timeout ? undefined : wait * 1000;
}

async function readJob(jobs: Jobs, id: string, call: SshCall, { signal }: CallContext) {
  const job = jobs.find(id);
  if (call.cancel === true) {
    job.stop(new ToolError('cancelled', 'A call cancelled the job.'), 'cancelled by a call');
    await job.ended;
  } else if (call.wait_seconds !== undefined) {
    const enough = AbortSignal.timeout(Math.ceil(call.wait_seconds * 1000));
    await job.changed(AbortSignal.any([signal, enough]));
  }
  // Output that is given to nobody would be lost to the next reader.
  signal.throwIfAborted();
  return job.read(Math.floor(call.max_output_bytes));
}

function listed(jobs: Jobs) {
  const all = jobs.list();
  const hint = `${all.length - MOST_LISTED} ended jobs more are kept; each can be read by its id.`;
  return {
    jobs: all.slice(0, MOST_LISTED).map((job) => ({ ...job })),
    ...(all.length > MOST_LISTED && { hint }),
  };
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
  timed_out: false,
};

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
