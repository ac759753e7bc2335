import { describe, expect, it } from 'vitest';

import { type Admission, type Limits, type Place, createCallRegister } from './limits.ts';

const NONE: Limits = { concurrent: 0, concurrentByTool: {}, perMinute: 0, perMinuteByTool: {} };

function registerOf(limits: Partial<Limits>) {
  const world = { ms: 5_000, limits: { ...NONE, ...limits } };
  const calls = createCallRegister(world.limits, () => world.ms);
  return { world, calls };
}

const placeOf = (admission: Admission): Place => {
  if ('error' in admission) throw admission.error;
  return admission.place;
};

/** Rule, message, hint and wait of a refusal. */
const refusalOf = (admission: Admission) =>
  'error' in admission
    ? [admission.rule, admission.error.code, admission.error.message, admission.error.details]
    : 'let in';

describe('concurrency', () => {
  it('of one tool is bounded, and its crowd keeps no other tool out', () => {
    const { calls } = registerOf({ concurrent: 4, concurrentByTool: { ssh_exec: 2 } });
    const first = placeOf(calls.enter('ssh_exec', true));
    placeOf(calls.enter('ssh_exec', true));
    expect(refusalOf(calls.enter('ssh_exec', true))).toEqual([
      'limit:tool-concurrency',
      'rate_limited',
      '2 calls of ssh_exec are under way, which is the most at a time.',
      { hint: 'Wait for one of them to end.', retryAfterSeconds: 1 },
    ]);
    placeOf(calls.enter('mesh_status', true));
    first.leave();
    first.leave();
    placeOf(calls.enter('ssh_exec', true));
    expect(refusalOf(calls.enter('ssh_exec', true))).toContain('limit:tool-concurrency');
    expect(calls.running()).toBe(3);
  });

  it('of the whole service is bounded, dry runs included', () => {
    const { calls } = registerOf({ concurrent: 2 });
    placeOf(calls.enter('ssh_exec', false));
    placeOf(calls.enter('browser', true));
    expect(refusalOf(calls.enter('mesh_status', false))).toEqual([
      'limit:service-concurrency',
      'rate_limited',
      '2 calls are under way, which is the most at a time.',
      { hint: 'Wait for one of them to end.', retryAfterSeconds: 1 },
    ]);
  });

  it('follows a reload from the next call', () => {
    const { world, calls } = registerOf({ concurrent: 1 });
    placeOf(calls.enter('browser', true));
    Object.assign(world.limits, { concurrent: 2, concurrentByTool: { browser: 1 } });
    expect(refusalOf(calls.enter('browser', true))).toContain('limit:tool-concurrency');
    placeOf(calls.enter('ssh_exec', true));
  });
});

describe('rate', () => {
  it('of one tool is bounded after a burst, with the wait told', () => {
    const { world, calls } = registerOf({ perMinuteByTool: { ssh_exec: 2 } });
    for (let n = 0; n < 10; n++) placeOf(calls.enter('ssh_exec', true)).leave();
    world.ms += 4_500;
    expect(refusalOf(calls.enter('ssh_exec', true))).toEqual([
      'limit:tool-rate',
      'rate_limited',
      'More than 2 calls of ssh_exec a minute, which is the most.',
      { hint: 'Call again in 26 s, and less often.', retryAfterSeconds: 26 },
    ]);
    placeOf(calls.enter('mesh_status', true));
    world.ms += 25_500;
    placeOf(calls.enter('ssh_exec', true));
  });

  it('of the whole service is bounded; a refused call uses up nothing of its tool’s', () => {
    const { world, calls } = registerOf({ perMinute: 1, perMinuteByTool: { browser: 1 } });
    for (let n = 0; n < 5; n++) placeOf(calls.enter('ssh_exec', true)).leave();
    for (let n = 0; n < 9; n++)
      expect(refusalOf(calls.enter('browser', true))).toContain('limit:service-rate');
    Object.assign(world.limits, { perMinute: 0 });
    for (let n = 0; n < 5; n++) placeOf(calls.enter('browser', true)).leave();
    expect(refusalOf(calls.enter('browser', true))).toContain('limit:tool-rate');
  });

  it('does not count what is no action', () => {
    const { calls } = registerOf({ perMinute: 1 });
    for (let n = 0; n < 50; n++) placeOf(calls.enter('ssh_exec', false)).leave();
    for (let n = 0; n < 5; n++) placeOf(calls.enter('ssh_exec', true)).leave();
    expect(refusalOf(calls.enter('ssh_exec', true))).toContain('limit:service-rate');
  });
});

it('nothing is let in while the server stops', async () => {
  const { calls } = registerOf({});
  const place = placeOf(calls.enter('ssh_exec', true));
  const settled = calls.settle(60_000);
  expect(refusalOf(calls.enter('ssh_exec', true))).toEqual([
    'stopping',
    'cancelled',
    'The server is stopping.',
    { hint: 'Call again in a minute.' },
  ]);
  place.leave();
  await settled;
});
