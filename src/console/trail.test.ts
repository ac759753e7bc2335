import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import type { AuditRecord } from '../audit/record.ts';
import { readTail } from './trail-file.ts';
import { type Trail, createTrail } from './trail.ts';

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

const add = (trail: Trail, record: AuditRecord) => trail.written(Buffer.from(`${JSON.stringify(record)}\n`));

describe('the trail', () => {
  it('makes one entry of an intent and its outcome, in the order in which calls began', () => {
    const trail = createTrail();
    add(trail, intent('a', 'browser', { action: 'open' }));
    add(trail, intent('b', 'browser', { action: 'close' }));
    add(trail, outcome('a', 'error'));
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
    add(trail, intent('a', 'ssh_exec', { command: 'make' }));
    add(trail, { ...outcome('a', 'ok'), job: 'j1' });
    expect(trail.find({})).toMatchObject([{ state: 'ok', job: 'j1', jobEnd: '', durationMs: 12 }]);
    add(trail, {
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
    add(trail, intent('a', 'browser', { url: 'http://Demo-Site/' }));
    add(trail, outcome('a', 'ok'));
    add(trail, intent('b', 'ssh_exec', { command: 'ping demo-site' }));
    add(trail, { event: 'note', time: at(5), id: 'c', message: 'a new file' });
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
    for (const id of ['a', 'b', 'c', 'd', 'e']) add(trail, intent(id, 'browser', {}));
    expect(trail.find({}).map(({ id }) => id)).toEqual(['e', 'd', 'c']);
  });

  it('holds the newest of a flood that nobody looks at', () => {
    const trail = createTrail();
    // Twice as much as waits at most.
    for (let at = 0; at < 40_000; at += 1)
      add(trail, intent(String(at), 'browser', { text: 'x'.repeat(50) }));
    add(trail, outcome('39999', 'ok'));
    const found = trail.find({});
    expect(found.map(({ id }) => id)).toEqual(Array.from({ length: 500 }, (_, at) => String(39_999 - at)));
    expect(found[0]?.state).toBe('ok');
  });

  it('holds records however large they are', () => {
    const trail = createTrail(3);
    const large = (id: string, bytes: number) =>
      `${JSON.stringify(intent(id, 'browser', { text: 'x'.repeat(bytes) }))}\n`;
    trail.written(Buffer.from(large('a', 3_000_000)));
    trail.written(Buffer.from(large('b', 3_000_000)));
    trail.written(Buffer.from(large('c', 10) + large('d', 5_000_000) + large('e', 10)));
    expect(trail.find({}).map(({ id }) => id)).toEqual(['e', 'b', 'a']);
    trail.written(Buffer.from(large('f', 5_000_000)));
    expect(trail.find({}).map(({ id }) => id)).toEqual(['e', 'b', 'a']);
  });

  it('cuts arguments that would fill the memory', () => {
    const trail = createTrail();
    add(trail, intent('a', 'browser', { text: 'x'.repeat(10_000) }));
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
