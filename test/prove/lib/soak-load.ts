import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'vitest';

import type { ToolAnswer } from '../../support/server.ts';
import { call } from '../../support/stack.ts';

/** What a load has done so far. */
export interface Tally {
  calls: number;
  byTool: Record<string, number>;
  /** One text for each answer that was not the expected one. */
  failures: string[];
}

export interface LoadOptions {
  callers: number;
  /** From the start of one of a caller's calls to that of its next, in milliseconds: the load's rate. */
  everyMs: number;
  /** No caller begins another scenario after that, in milliseconds of the epoch. */
  until?: number;
  /** How often each caller plays all scenarios at most. */
  rounds?: number;
  /** Whether some browser sessions are left open for the server to close when they are idle. */
  leaveSessions: boolean;
  /** The scenarios that are played, by name; all of them where it is left out. */
  only?: readonly string[];
}

type Step = (tool: string, args: Record<string, unknown>, expected: object) => Promise<ToolAnswer>;
interface Round {
  step: Step;
  /** Unique to this caller and round; used in names. */
  name: string;
  /** How often the caller has played all scenarios before. */
  round: number;
  leaveSession: boolean;
}

/** A modest mixed load over all six tools: each caller plays all scenarios round by round, one call at a time. */
export async function load(options: LoadOptions, tally: Tally): Promise<void> {
  const callers = Array.from({ length: options.callers }, (_, caller) => play(caller, options, tally));
  await Promise.all(callers);
}

async function play(caller: number, options: LoadOptions, tally: Tally): Promise<void> {
  const { everyMs, until = Infinity, rounds = Infinity, leaveSessions, only } = options;
  const scenarios = SCENARIOS.filter(({ name }) => only?.includes(name) ?? true);
  let next = Date.now() + (caller * everyMs) / options.callers;
  const step: Step = async (tool, args, expected) => {
    // The pace of the load, not a wait for something.
    await pause(Math.max(0, next - Date.now()));
    next = Math.max(next, Date.now()) + everyMs;
    tally.calls += 1;
    tally.byTool[tool] = (tally.byTool[tool] ?? 0) + 1;
    const answer = await call(tool, args);
    expect(answer.structuredContent, JSON.stringify(answer.structuredContent)).toMatchObject(expected);
    return answer;
  };
  for (let round = 0; round < rounds && Date.now() < until; round += 1) {
    for (let turn = 0; turn < scenarios.length && Date.now() < until; turn += 1) {
      // Each caller begins elsewhere, so that the tools meet each other in all combinations.
      const scenario = scenarios[(turn + caller * 3) % scenarios.length] as Scenario;
      const leaveSession = leaveSessions && (round + caller) % 4 === 0;
      await scenario({ step, name: `soak-${caller}-${round}`, round, leaveSession }).catch(
        (error: unknown) => {
          const words = error instanceof Error ? error.message : String(error);
          tally.failures.push(`${new Date().toISOString()} ${scenario.name}: ${words}`.slice(0, 2000));
        },
      );
    }
  }
}

type Scenario = (round: Round) => Promise<unknown>;

const SCENARIOS: readonly Scenario[] = [
  function commands({ step }) {
    return step('ssh_exec', { device: 'web-1', command: 'hostname' }, { exit_code: 0, stdout: 'web-1\n' });
  },
  async function pages({ step, name, leaveSession }) {
    const session = { session: name };
    const open = { ...session, action: 'open', url: 'http://demo-site/' };
    await step('browser', open, { url: 'http://demo-site/', status: 200 });
    const { structuredContent } = await step('browser', { ...session, action: 'snapshot' }, {});
    const [, ref] = /link "A second page" \[.*?ref=(e\d+)/.exec(String(structuredContent['snapshot'])) ?? [];
    await step('browser', { ...session, action: 'click', ref }, { session: name });
    // The click's answer does not wait for the next page as long as a loaded machine may need.
    await step('browser', { ...session, action: 'wait', value: 'Hello' }, { session: name });
    await step(
      'browser',
      { ...session, action: 'text' },
      { text: expect.stringContaining('Hello') as string },
    );
    if (!leaveSession) await step('browser', { ...session, action: 'close' }, { session: name });
  },
  function status({ step }) {
    return step('mesh_status', {}, { total: 3, online: 2 });
  },
  async function jobs({ step, name }) {
    const command = `echo begun; sleep 1; echo ${name}`;
    const started = await step('ssh_exec', { device: 'db-1', command, wait_seconds: 0 }, { running: true });
    const { job, stdout } = started.structuredContent as { job: string; stdout: string };
    let text = stdout;
    for (let running = true; running;) {
      const { structuredContent } = await step('ssh_exec', { job, wait_seconds: 10 }, { job });
      text += String(structuredContent['stdout']);
      running = structuredContent['running'] === true;
      if (!running) expect(structuredContent).toMatchObject({ exit_code: 0 });
    }
    expect(text).toBe(`begun\n${name}\n`);
  },
  async function cancelledJobs({ step }) {
    const sleeping = { device: 'web-1', command: 'exec sleep 4711', wait_seconds: 0 };
    const { structuredContent } = await step('ssh_exec', sleeping, { running: true });
    const { job } = structuredContent;
    await step('ssh_exec', { job, cancel: true }, { job });
  },
  function fetches({ step }) {
    const page = { status: 200, body: expect.stringContaining('Demo site') as string };
    return step('fetch_external', { url: 'http://demo-site/' }, page);
  },
  async function notes({ step, name }) {
    const files = { 'note.md': `# ${name}\n\nWritten under load.\n` };
    const made = await step('snippet_kb', { action: 'create', title: name, tags: ['soak'], files }, {});
    const { id, version } = made.structuredContent['note'] as { id: string; version: string };
    const change = { action: 'update', id, expected_version: version, files: { 'more.txt': 'two' } };
    await step('snippet_kb', change, { note: { id } });
    const read = { files: { ...files, 'more.txt': 'two' } };
    await step('snippet_kb', { action: 'get', id }, { note: read });
    await step('snippet_kb', { action: 'search', query: 'backup nas' }, { total: 1 });
    await step('snippet_kb', { action: 'delete', id }, { deleted: true });
  },
  function output({ step }) {
    const expected = { exit_code: 0, stdout_truncated: true };
    return step('ssh_exec', { device: 'db-1', command: 'seq 1 100000' }, expected);
  },
  function timeouts({ step }) {
    const endless = { device: 'web-1', command: 'exec sleep 4712', timeout_seconds: 1 };
    return step('ssh_exec', endless, { timed_out: true });
  },
  async function code({ step, round }) {
    // The API allows ten a minute, to all callers of the stack together; being told so is an answer as good.
    if (round % 2 === 1) return;
    const query = { query: 'createServer', path: 'src/server' };
    const { structuredContent } = await step('code_search', query, {});
    if (structuredContent.error?.code !== 'rate_limited')
      expect(structuredContent).toMatchObject({ total: 1 });
  },
  function refusals({ step }) {
    const error = { code: 'domain_not_allowed' };
    return step('fetch_external', { url: 'http://elsewhere.example/' }, { error });
  },
  function blocked({ step }) {
    return step('ssh_exec', { device: 'web-1', command: 'mkfs /dev/sda' }, { matched_rule: 'mkfs' });
  },
  function offline({ step }) {
    const error = { code: 'device_offline' };
    return step('ssh_exec', { device: 'laptop-1', command: 'hostname' }, { error });
  },
  function repositories({ step }) {
    return step('code_search', { query: 'demo', kind: 'repositories' }, { items: expect.any(Array) as [] });
  },
  /** A client that goes away: its command is ended, and nobody waits for it. */
  async function hangUps({ step }) {
    await step('mesh_status', { device: 'web-1' }, { total: 3 });
    const left = { device: 'db-1', command: 'exec sleep 4713' };
    await expect(call('ssh_exec', left, { signal: AbortSignal.timeout(500) })).rejects.toThrow('');
  },
];
