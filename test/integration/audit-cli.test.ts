import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { type AuditLog, openAuditLog } from '../../src/audit/log.ts';
import { clipArguments, type AuditRecord } from '../../src/audit/record.ts';
import { SECRET } from '../support/server.ts';

const MAIN = resolve('src/main.ts');
const client = { name: 'claude', ip: '203.0.113.7' };

let directory: string;
let path: string;
let children: ChildProcess[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'audit-cli-'));
  path = join(directory, 'audit.log');
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

function start(args: string[], env: Record<string, string> = {}, wrap: string[] = []) {
  const [file = '', ...rest] = [...wrap, process.execPath, MAIN, 'audit', ...args];
  const child = spawn(file, rest, {
    cwd: directory,
    env: {
      PATH: process.env['PATH'] ?? '',
      TZ: 'Asia/Tokyo',
      MCP_SECRET: SECRET,
      AUDIT_LOG_PATH: path,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let text = '';
  let look: () => unknown = () => {};
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      text += String(chunk);
      look();
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, text }));
  const until = (pattern: RegExp) =>
    new Promise<void>((done, fail) => {
      look = () => pattern.test(text) && done();
      look();
      void ended.then(() => fail(new Error(`ended before ${pattern}: ${text}`)));
    });
  return { child, ended, until };
}
const run = (...given: Parameters<typeof start>) => start(...given).ended;

/** A call's records, ten seconds after each other's. */
let clock = 0;
const stamp = () => new Date(Date.UTC(2026, 10, 20, 0, 0, (clock += 10))).toISOString();
const intent = (id: string, tool: string, args: unknown, decision: AuditRecord['decision'] = 'allow') =>
  ({ event: 'intent', time: stamp(), id, tool, client, arguments: clipArguments(args), decision }) as const;
const outcome = (id: string, tool: string, rest: Partial<AuditRecord> = {}) =>
  ({ event: 'outcome', time: stamp(), id, tool, client, outcome: 'ok', duration_ms: 12, ...rest }) as const;

async function writeCalls(log: AuditLog): Promise<void> {
  clock = 0;
  await log.appendDurable(intent('1', 'ssh_exec', { device: 'web-1', command: 'uptime\n-p' }));
  await log.appendDurable(
    intent('2', 'fetch_external', { url: 'https://api.example.org/v1', method: 'GET' }),
  );
  await log.append(
    outcome('2', 'fetch_external', { outcome: 'error', error_code: 'timeout', duration_ms: 30_004 }),
  );
  await log.append(outcome('1', 'ssh_exec'));
  await log.appendDurable({
    ...intent('3', 'ssh_exec', { device: 'web-1', command: 'rm -rf /' }, 'refuse'),
    event: 'refused',
    rule: 'rm -rf',
    outcome: 'blocked',
  });
  await log.appendDurable(intent('4', 'ssh_exec', { device: 'db-1', command: 'id' }, 'dry_run'));
  await log.append(outcome('4', 'ssh_exec', { duration_ms: 1 }));
  // What a caller sends must not steer the terminal of the person who reads the log.
  await log.appendDurable(
    intent('5', 'browser', { action: 'open', url: 'https://x.example/\u001B[2J\u009B1m\u202E' }),
  );
}

const CALLS = `2026-11-20 09:00:20  timeout       fetch_external    30.0 s  claude@203.0.113.7        GET https://api.example.org/v1
2026-11-20 09:00:10  ok            ssh_exec           12 ms  claude@203.0.113.7        web-1: uptime -p
2026-11-20 09:00:50  blocked       ssh_exec                  claude@203.0.113.7        web-1: rm -rf /  [rm -rf]
2026-11-20 09:01:00  dry run       ssh_exec            1 ms  claude@203.0.113.7        db-1: id
2026-11-20 09:01:20  started       browser                   claude@203.0.113.7        open https://x.example/1m
`;

describe('audit tail', () => {
  it('shows one line a call, in local time, with nothing that steers a terminal', async () => {
    const log = await openAuditLog({ path, secret: SECRET });
    await writeCalls(log);
    await log.close();
    expect(await run(['tail', '-n', '5'])).toEqual({ code: 0, text: CALLS });
    const all = await run(['tail']);
    expect(all.text.split('\n')[0]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}note {9}a new file$/);
    expect(all.text.endsWith(CALLS)).toBe(true);
  });

  it('shows one tool, a number of lines, and the records as they are', async () => {
    const log = await openAuditLog({ path, secret: SECRET, maxBytes: 1_000 });
    await writeCalls(log);
    await log.close();
    expect((await run(['tail', '--tool', 'browser'])).text).toBe(`${CALLS.trimEnd().split('\n').at(-1)}\n`);
    expect((await run(['tail', '-n', '0'])).text).toBe('');
    const { text } = await run(['tail', '--json', '--tool', 'ssh_exec', '-n', '3']);
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as AuditRecord).event),
    ).toEqual(['refused', 'intent', 'outcome']);
  });

  it('follows the log over its rotations', async () => {
    const log = await openAuditLog({ path, secret: SECRET, maxBytes: 1_000, keepFiles: 0 });
    clock = 0;
    await log.appendDurable(intent('0', 'ssh_exec', { device: 'web-1', command: 'the past' }));
    const tail = start(['tail', '-f', '-n', '1', '--tool', 'ssh_exec']);
    const json = start(['tail', '--follow', '--json', '-n', '1']);
    await Promise.all([tail.until(/the past/), json.until(/the past/)]);
    await writeCalls(log);
    await tail.until(/ok .*uptime -p[^]*db-1: id/);
    await writeCalls(log);
    await Promise.all([tail.until(/(ok .*uptime -p[^]*){2}/), json.until(/(open[^]*"mac"[^]*){2}/)]);
    for (const { child } of [tail, json]) child.kill('SIGTERM');
    const { text } = await json.ended;
    const numbers = text
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { seq: number }).seq);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => index + 2));
    expect((await tail.ended).text).not.toContain('fetch_external');
    await log.close();
  });
});

describe('audit verify', () => {
  const write = async (secret = SECRET, previousSecrets: string[] = []) => {
    const log = await openAuditLog({ path, secret, previousSecrets, maxBytes: 1_500 });
    await writeCalls(log);
    await log.close();
  };

  it('exits with 0 and the counts, or with 1 and the first bad line', async () => {
    await write();
    expect(await run(['verify'])).toEqual({ code: 0, text: 'ok: 10 records in 2 files, 10 verified\n' });
    writeFileSync(path, readFileSync(path, 'utf8').replace('db-1', 'db-2'));
    const { code, text } = await run(['verify']);
    expect(code).toBe(1);
    expect(text).toMatch(
      /^\/.*\/audit\.log:\d: changed: record \d+ is not what was written\n10 records in 2 files, 9 verified, 1 bad\n$/,
    );
    expect(await run(['verify', `${path}.000001`])).toMatchObject({
      code: 0,
      text: expect.stringMatching(/^the end was not checked: .*\nok: \d records in 1 file, \d verified\n$/),
    });
  });

  it('takes the secrets of before from MCP_SECRET_PREVIOUS, and says when it lacks one', async () => {
    await write('first');
    await write('second, with a comma', ['first']);
    await write('third', ['second, with a comma']);
    const previous = 'first,another';
    const lacking = await run(['verify'], { MCP_SECRET: 'third', MCP_SECRET_PREVIOUS: previous });
    expect(lacking.code).toBe(1);
    expect(lacking.text).toMatch(
      /^not verifiable with the keys given: 10 records made with key [0-9a-f]{12}; set MCP_SECRET_PREVIOUS/,
    );
    const other = await run(['verify'], { MCP_SECRET: 'third', MCP_SECRET_PREVIOUS: 'second, with a comma' });
    expect(other.text).toMatch(/^not verifiable with the keys given: 10 records/);
  });

  it('reads the path from the YAML file where the environment has none', async () => {
    await write();
    writeFileSync(join(directory, 'service.config.yaml'), `audit:\n  log_path: ${path}\n`);
    expect(await run(['verify'], { AUDIT_LOG_PATH: '' })).toMatchObject({ code: 0 });
  });

  it.each([
    [['verify'], { MCP_SECRET: '' }, 1, /^MCP_SECRET is not set/],
    [['verify'], {}, 1, /^There is no audit log at .*audit\.log\.$/m],
    [['tail'], {}, 1, /^There is no audit log at .*audit\.log\.$/m],
    [['verify', '/nowhere/x'], {}, 1, /^There is no audit log at \/nowhere\/x\.$/m],
    [['tail', '--frob'], {}, 2, /^Unknown option '--frob'[^]*Usage:/],
    [['tail', '-n', 'many'], {}, 2, /^-n: expected a number of lines, got "many"/],
    [['frob'], {}, 2, /^Unknown command: audit frob\n\nUsage:/],
  ])('says what is wrong: %j %j', async (args, env, code, message) => {
    const answer = await run(args, env);
    expect(answer.text).toMatch(message);
    expect(answer.text).not.toMatch(/^ +at /m);
    expect(answer.code).toBe(code);
  });

  it('verifies while the log is written to', async () => {
    const log = await openAuditLog({ path, secret: SECRET, maxBytes: 20_000, keepFiles: 0 });
    const stop = new AbortController();
    const writer = (async () => {
      while (!stop.signal.aborted)
        await log.appendDurable(intent('x', 'ssh_exec', { device: 'web-1', command: 'id' }));
    })();
    for (let i = 0; i < 5; i += 1) expect((await run(['verify'])).text).toMatch(/^ok: /);
    stop.abort();
    await writer;
    await log.close();
    appendFileSync(path, 'x');
    expect((await run(['verify'])).text).toMatch(/: torn: the line has no end\n/);
  });
});

// As in the container: root without capabilities but those for becoming another account, which owns the log.
describe.runIf(process.getuid?.() === 0)('run as root', () => {
  it('reads the log as the account that owns it', async () => {
    const log = await openAuditLog({ path, secret: SECRET });
    await log.close();
    chmodSync(directory, 0o700);
    for (const name of [directory, path, `${path}.head`]) chownSync(name, 10_001, 10_001);
    const confined = ['setpriv', '--bounding-set=-all,+setuid,+setgid', '--inh-caps=-all'];
    const env = { UV_USE_IO_URING: '0', RUN_AS: '10001:10001' };
    const { text } = await run(['verify'], env, confined);
    expect(text).toBe('ok: 1 record in 1 file, 1 verified\n');
    expect((await run(['tail'], env, confined)).text).toContain('a new file');
  });
});
