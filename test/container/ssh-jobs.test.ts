import { describe, expect, it } from 'vitest';

import { SECRET, startTestServer } from '../support/server.ts';
import { processes } from './ssh/device.ts';
import {
  device,
  endedJob,
  exec,
  readToEnd,
  readUntil,
  running,
  server,
  serverFor,
  start,
  touch,
  waitFor,
  useJobs,
} from './ssh/jobs.ts';
import { until } from './ssh/rig.ts';

useJobs();

describe('a command that outlives wait_seconds', () => {
  it('goes on as a job, and its end is read later', async () => {
    const command = `echo one; ${waitFor('/tmp/go-1')}; echo two; echo oops >&2; exit 3`;
    const started = await start({ command });
    expect(started).toMatchObject({
      isError: false,
      job: expect.stringMatching(/^[0-9a-f]{12}$/) as string,
      running: true,
      exit_code: null,
      signal: null,
      timed_out: false,
      device: 'web-1',
      user: 'demo',
      command,
    });
    expect(await readUntil(started, 'one')).toBe('one\n');
    expect(await exec({ job: started.job })).toMatchObject({ running: true, stdout: '', exit_code: null });

    const poll = readToEnd({ ...started, stdout: '' });
    await touch('/tmp/go-1');
    expect(await poll).toMatchObject({ running: false, exit_code: 3, stdout: 'two\n', isError: false });
    // What it was is still known, and nothing is told twice.
    expect(await exec({ job: started.job })).toMatchObject({
      running: false,
      exit_code: 3,
      stdout: '',
      stderr: '',
      command,
    });
  });

  it('is no job when it ends in time', async () => {
    const answer = await exec({ device: 'web-1', command: 'echo quick', wait_seconds: 20 });
    expect(answer).toMatchObject({ exit_code: 0, stdout: 'quick\n' });
    expect(answer).not.toHaveProperty('job');
    expect(answer).not.toHaveProperty('running');
  });

  it('runs nothing in a dry run', async () => {
    const answer = await start({ command: 'touch /tmp/ran', dry_run: true });
    expect(answer).toMatchObject({ dry_run: true, exit_code: null });
    expect(answer).not.toHaveProperty('job');
    expect((await device.exec(['ls', '/tmp/ran'])).exitCode).not.toBe(0);
  });

  it('is refused like any other', async () => {
    const strict = await startTestServer({ SSH_BLOCKED_COMMANDS: 'mkfs' });
    expect(await start({ command: 'mkfs /dev/sda' }, strict)).toMatchObject({ blocked: true });
    await strict.close();
  });

  it('leaves what it became in the audit log, under the id of the call', async () => {
    const started = await start({ command: `${waitFor('/tmp/go-audit')}; exit 4` });
    await touch('/tmp/go-audit');
    await readToEnd(started);
    const ended = await until(
      () => server.audit().find(({ event, job }) => event === 'ended' && job === started.job),
      (record) => record !== undefined,
    );
    expect(ended).toMatchObject({
      tool: 'ssh_exec',
      outcome: 'ok',
      exit_code: 4,
      duration_ms: expect.any(Number) as number,
      client: { ip: '127.0.0.1' },
    });
    const story = server.audit().filter(({ id }) => id === ended?.id);
    expect(story.map(({ event, outcome, job }) => [event, outcome, job === started.job])).toEqual([
      ['intent', undefined, false],
      ['outcome', 'ok', true],
      ['ended', 'ok', true],
    ]);
  });
});

describe('output of a job', () => {
  const seq = (last: number) => Array.from({ length: last }, (_, index) => `${index + 1}\n`).join('');

  it('is told once and whole, however small the reads are', async () => {
    const started = await start({ command: 'seq 5000; sleep 0.3; seq 5001 9000', max_output_bytes: 1000 });
    const answer = await readToEnd(started, { max_output_bytes: 1000 });
    expect(answer.stdout).toBe(seq(9000));
  });

  it('is told once to readers at the same time', async () => {
    const started = await start({ command: 'for i in $(seq 100); do echo $i; sleep 0.01; done' });
    const none = { ...started, stdout: '' };
    const parts = await Promise.all([readToEnd(none), readToEnd(none), readToEnd(none)]);
    const lines = [started, ...parts].map(({ stdout }) => stdout).join('');
    expect(
      lines
        .split(/(?<=\n)/)
        .sort((a, b) => Number(a) - Number(b))
        .join(''),
    ).toBe(seq(100));
  });

  it('is whole characters', async () => {
    const started = await start({
      command: `printf '\\342\\202'; ${waitFor('/tmp/go-euro')}; printf '\\254!'`,
    });
    expect((await exec({ job: started.job, wait_seconds: 0.5 })).stdout).toBe('');
    await touch('/tmp/go-euro');
    expect((await readToEnd(started)).stdout).toBe('€!');
  });

  it('beyond the bound loses its oldest part, and says so', async () => {
    const started = await start({ command: `${waitFor('/tmp/go-flood')}; yes 0123456789 | head -c 1000000` });
    await touch('/tmp/go-flood');
    const listed = () => exec({ job: 'list' });
    await until(listed, ({ jobs = [] }) => jobs.find(({ id }) => id === started.job)?.ended_at !== null);
    const answer = await exec({ job: started.job, max_output_bytes: 262_144 });
    expect(answer).toMatchObject({ stdout_truncated: true, exit_code: 0, running: false });
    expect(answer.stdout.slice(0, 40)).toBe('[… 737856 bytes lost …]\n9\n0123456789\n012');
    expect(answer.stdout.length).toBe(24 + 262_144);
    expect(await exec({ job: started.job })).toMatchObject({ stdout: '', stdout_truncated: false });
  });
});

describe('ending a job', () => {
  it.each(['demo', 'basher', 'root'])('leaves nothing of it behind: %s', async (user) => {
    const command = `trap '' TERM HUP; sleep 4331 & sleep 4331 & wait`;
    const { job } = await start({ user, command });
    await running('sleep 4331', 2);
    const answer = await exec({ job, cancel: true });
    expect(answer).toMatchObject({
      isError: false,
      running: false,
      exit_code: null,
      timed_out: false,
      reason: 'cancelled by a call',
      hint: 'The command was ended on the device.',
    });
    expect(await processes(device, 'sleep 4331')).toBe('');
    expect(await exec({ job })).toMatchObject({ running: false, reason: 'cancelled by a call' });
    const { jobs } = await exec({ job: 'list' });
    expect(jobs?.find(({ id }) => id === job)).toMatchObject({ cancelled: true, user });
    expect(server.audit().filter(({ event, job: id }) => event === 'ended' && id === job)).toMatchObject([
      { outcome: 'error', error_code: 'cancelled', exit_code: null, message: 'cancelled by a call' },
    ]);
  });

  it('that has ended changes nothing', async () => {
    const { job } = await endedJob(5);
    const answer = await exec({ job, cancel: true });
    expect(answer).toMatchObject({ running: false, exit_code: 5 });
    expect(answer).not.toHaveProperty('reason');
  });

  it('is up to timeout_seconds at the latest', async () => {
    const started = await start({ command: 'echo begun; sleep 4332', timeout_seconds: 1 });
    const answer = await readToEnd(started);
    expect(answer).toMatchObject({ running: false, timed_out: true, exit_code: null, stdout: 'begun\n' });
    expect(await processes(device, 'sleep 4332')).toBe('');
    await until(
      () => server.audit().find(({ event, job }) => event === 'ended' && job === started.job)?.message,
      (message) => message === 'timed out',
    );
  });
});

describe('jobs', () => {
  it('that nobody knows are told apart from ended ones', async () => {
    expect((await exec({ job: 'feedfacecafe' })).error).toEqual({
      code: 'not_found',
      message: 'There is no job "feedfacecafe".',
      hint: 'Jobs end with the server, and ended ones are kept for 30 minutes, 200 at most; job "list" shows all.',
    });
    const other = await serverFor(device);
    const { job } = await start({ command: waitFor('/tmp/go-elsewhere') });
    expect((await exec({ job }, other)).error).toMatchObject({ code: 'not_found' });
    await other.close();
  });

  it('are listed, running ones first', async () => {
    const first = await start({ command: waitFor('/tmp/go-list'), user: 'root' });
    const quick = await endedJob(6);
    const { jobs = [] } = await exec({ job: 'list' });
    expect(jobs.slice(0, 2)).toEqual([
      {
        id: first.job,
        device: 'web-1',
        user: 'root',
        command: 'until [ -e /tmp/go-list ]; do sleep 0.05; done',
        started_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        ended_at: null,
        exit_code: null,
        signal: null,
        timed_out: false,
        cancelled: false,
      },
      expect.objectContaining({
        id: quick.job,
        exit_code: 6,
        ended_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      }),
    ]);
    const text = await (await fetch(`${server.base}/metrics?token=${SECRET}`)).text();
    expect(text).toContain('remote_tool_server_jobs_running 1\n');
    expect(text).toMatch(/^remote_tool_server_ssh_connections [1-9]$/m);
  });

  it('are 32 at most; the next one is refused before it runs', async () => {
    const started = await Promise.all(Array.from({ length: 32 }, () => start({ command: 'sleep 4333' })));
    expect(started.filter(({ running: on }) => on !== true)).toEqual([]);
    const { error } = await start({ command: 'touch /tmp/thirty-third' });
    expect(error).toMatchObject({
      code: 'rate_limited',
      message: '32 jobs are running, which is the most at a time (SSH_MAX_JOBS).',
      retry_after_seconds: 5,
    });
    await Promise.all(started.map(({ job }) => exec({ job, cancel: true })));
    expect(await processes(device, 'sleep 4333')).toBe('');
    expect(await start({ command: 'ls /tmp/thirty-third', wait_seconds: 20 })).toMatchObject({
      exit_code: 2,
    });
  });
});
