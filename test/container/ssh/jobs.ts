import type { StartedTestContainer } from 'testcontainers';
import { afterAll, afterEach, beforeAll } from 'vitest';

import type { JobSummary } from '../../../src/core/jobs.ts';
import { type TestServer, startTestServer } from '../../support/server.ts';
import { NONE, processes, startDevice } from './device.ts';
import { until } from './rig.ts';

export interface Answer {
  isError: boolean;
  job: string;
  running?: boolean;
  exit_code?: number | null;
  signal?: string | null;
  stdout: string;
  stderr: string;
  stdout_truncated?: boolean;
  timed_out?: boolean;
  reason?: string;
  hint?: string;
  jobs?: JobSummary[];
  error?: { code: string; message: string; hint: string; stdout?: string };
}

export let device: StartedTestContainer;
export let server: TestServer;

export const serverFor = (container: StartedTestContainer) =>
  startTestServer({ SSH_PORT: String(container.getMappedPort(22)), SSH_DEFAULT_USER: 'demo' });

export async function exec(args: Record<string, unknown>, at = server): Promise<Answer> {
  const { structuredContent, isError } = await at.call('ssh_exec', args);
  return { ...(structuredContent as unknown as Answer), isError: isError === true };
}

/** Starts a command as a job. */
export const start = (args: Record<string, unknown>, at = server) =>
  exec({ device: 'web-1', wait_seconds: 0, ...args }, at);

/** Reads a job to its end; the texts of all reads together. */
export async function readToEnd({ job, stdout: first }: Answer, args = {}, at = server) {
  let stdout = first;
  for (;;) {
    const answer = await exec({ job, wait_seconds: 10, ...args }, at);
    stdout += answer.stdout;
    if (answer.running !== true && !answer.hint?.includes('more wait')) return { ...answer, stdout };
  }
}

export async function readUntil({ job, stdout: first }: Answer, text: string): Promise<string> {
  let stdout = first;
  while (!stdout.includes(text)) stdout += (await exec({ job, wait_seconds: 10 })).stdout;
  return stdout;
}

export const waitFor = (file: string) => `until [ -e ${file} ]; do sleep 0.05; done`;
export const touch = (file: string) => device.exec(['touch', file]);
/** A job that has ended with this exit code. */
export async function endedJob(code: number): Promise<Answer> {
  const file = `/tmp/go-ended-${code}`;
  const started = await start({ command: `${waitFor(file)}; exit ${code}` });
  await touch(file);
  return readToEnd(started);
}
export const running = async (text: string, count = 1) =>
  until(
    () => processes(device, `^${text}`),
    (found) => found.split('\n').filter(Boolean).length === count,
  );

/** A device and a server for the tests of a file; what still runs after a test is ended. */
export function useJobs(): void {
  beforeAll(async () => {
    device = await startDevice(...NONE);
    server = await serverFor(device);
  });
  afterAll(async () => {
    await server.close();
    await device.stop();
  });
  afterEach(async () => {
    const { jobs = [] } = await exec({ job: 'list' });
    for (const { id } of jobs.filter(({ ended_at: end }) => end === null))
      await exec({ job: id, cancel: true });
  });
}
