import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import type { AuditRecord } from '../audit/record.ts';
import { readTail } from './trail-file.ts';
import { createTrail } from './trail.ts';

const client = { name: 'tester', ip: '192.0.2.1' };
const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const intent = (id: string, tool: string, args: object, second = 0): AuditRecord => ({
  event: 'intent',
  time: at(second),
  id,
  tool,
  client,
  arguments: args,
  decision: 'allow',
});
const outcome = (id: string, result: 'ok' | 'error', second = 1): AuditRecord => ({
  event: 'outcome',
  time: at(second),
  id,
  tool: 'browser',
  client,
  outcome: result,
  duration_ms: 12,
  bytes: 345,
  ...(result === 'error' && { error_code: 'timeout' }),
});

describe('the trail', () => {
  it('makes one entry of an intent and its outcome, in the order in which calls began', () => {
    const trail = createTrail();
    trail.add(intent('a', 'browser', { action: 'open' }));
    trail.add(intent('b', 'browser', { action: 'close' }));
    trail.add(outcome('a', 'error'));
    expect(trail.find({})).toMatchObject([
      { id: 'b', state: 'running', durationMs: null },
      {
        id: 'a',
        time: at(0),
        state: 'error',
        errorCode: 'timeout',
        durationMs: 12,
        bytes: 345,
        client: 'tester 192.0.2.1',
        arguments: '{"action":"open"}',
      },
    ]);
  });

  it('tells with a call how its job ended', () => {
    const trail = createTrail();
    trail.add(intent('a', 'ssh_exec', { command: 'make' }));
    trail.add({ ...outcome('a', 'ok'), job: 'j1' });
    expect(trail.find({})).toMatchObject([{ state: 'ok', job: 'j1', jobEnd: '', durationMs: 12 }]);
    trail.add({
      event: 'ended',
      time: at(9),
      id: 'a',
      tool: 'ssh_exec',
      client,
      job: 'j1',
      outcome: 'error',
      error_code: 'cancelled',
      exit_code: null,
      duration_ms: 9_000,
      message: 'cancelled by the operator',
    });
    expect(trail.find({ text: 'J1' })).toMatchObject([
      {
        time: at(0),
        state: 'error',
        errorCode: 'cancelled',
        durationMs: 9_000,
        bytes: 345,
        jobEnd: 'cancelled by the operator',
        arguments: '{"command":"make"}',
        message: '',
      },
    ]);
  });

  it('finds by tool, outcome and text, all of them together', () => {
    const trail = createTrail();
    trail.add(intent('a', 'browser', { url: 'http://Demo-Site/' }));
    trail.add(outcome('a', 'ok'));
    trail.add(intent('b', 'ssh_exec', { command: 'ping demo-site' }));
    trail.add({ event: 'note', time: at(5), id: 'c', message: 'a new file' });
    const ids = (filter: object) => trail.find(filter).map(({ id }) => id);
    expect(ids({ tool: 'ssh_exec' })).toEqual(['b']);
    expect(ids({ state: 'ok' })).toEqual(['a']);
    expect(ids({ text: 'DEMO-site' })).toEqual(['b', 'a']);
    expect(ids({ text: 'demo-site', state: 'running' })).toEqual(['b']);
    expect(ids({ text: 'new file' })).toEqual(['c']);
    expect(ids({ tool: 'ssh_exec', state: 'ok' })).toEqual([]);
  });

  it('keeps no more than it may, the newest', () => {
    const trail = createTrail(3);
    for (const id of ['a', 'b', 'c', 'd', 'e']) trail.add(intent(id, 'browser', {}));
    expect(trail.find({}).map(({ id }) => id)).toEqual(['e', 'd', 'c']);
  });

  it('cuts arguments that would fill the memory', () => {
    const trail = createTrail();
    trail.add(intent('a', 'browser', { text: 'x'.repeat(10_000) }));
    expect(trail.find({})[0]?.arguments).toHaveLength(4_097);
  });

  it('says of an earlier process’s call without outcome that there is none', () => {
    const trail = createTrail();
    trail.restore([intent('a', 'browser', {}), intent('b', 'browser', {}), outcome('b', 'ok')]);
    expect(trail.find({}).map(({ state }) => state)).toEqual(['ok', 'lost']);
  });
});

describe('the tail of the file', () => {
  it('is the last records in order, without what is no record', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'trail-'));
    const path = join(directory, 'audit.log');
    const lines = [intent('a', 'x', {}), intent('b', 'x', {}), outcome('b', 'ok')].map((each) =>
      JSON.stringify(each),
    );
    writeFileSync(path, `${lines[0]}\nnot json\n{"event":"intent"}\n${lines[1]}\n${lines[2]}\n{"event":"int`);
    expect((await readTail(path)).map(({ id, event }) => `${event} ${id}`)).toEqual([
      'intent a',
      'intent b',
      'outcome b',
    ]);
    expect((await readTail(path, 2)).map(({ id }) => id)).toEqual(['b', 'b']);
    expect(await readTail(join(directory, 'none'))).toEqual([]);
    expect(await readTail(directory)).toEqual([]);
    rmSync(directory, { recursive: true });
  });
});
