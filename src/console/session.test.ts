import { describe, expect, it } from 'vitest';

import { createSessions } from './session.ts';

const HOUR = 3_600_000;

// A console cookie that holds the secret gives it to whoever reads a browser's profile; one that is only a random
// number in memory throws everybody out at each restart.
describe('a session', () => {
  it('does not hold the secret, outlives a restart and ends after 12 hours', () => {
    let now = 1_000 * HOUR;
    const cookie = createSessions('the secret', '', () => now).issue();
    expect(cookie).not.toContain('secret');
    const restarted = createSessions('the secret', '', () => now);
    expect(restarted.valid(cookie)).toBe(true);
    now += 12 * HOUR - 1_000;
    expect(restarted.valid(cookie)).toBe(true);
    now += 1_000;
    expect(restarted.valid(cookie)).toBe(false);
  });

  it('cannot be made or prolonged without the secret', () => {
    const sessions = createSessions('the secret');
    const cookie = sessions.issue();
    const [expiry = '', nonce, mac] = cookie.split('.');
    expect(sessions.valid(`${Number(expiry) + 1}.${nonce}.${mac}`)).toBe(false);
    expect(sessions.valid(`${expiry}.${nonce}.${mac?.slice(0, -1)}`)).toBe(false);
    expect(sessions.valid(`0${cookie}`)).toBe(false);
    expect(sessions.valid(createSessions('another').issue())).toBe(false);
    for (const text of [undefined, '', '..', 'the secret', `${expiry}..`])
      expect(sessions.valid(text)).toBe(false);
  });

  it('made with the secret before a rotation is good while that one is', () => {
    const cookie = createSessions('old').issue();
    expect(createSessions('new', 'old').valid(cookie)).toBe(true);
    expect(createSessions('new').valid(cookie)).toBe(false);
  });

  it('has a form token of its own', () => {
    const sessions = createSessions('the secret');
    const [mine, other] = [sessions.issue(), sessions.issue()];
    const token = sessions.formToken(mine);
    expect(sessions.validFormToken(mine, token)).toBe(true);
    expect(sessions.validFormToken(other, token)).toBe(false);
    expect(sessions.validFormToken(mine, null)).toBe(false);
    expect(sessions.validFormToken(mine, '')).toBe(false);
    expect(mine).not.toContain(token);
  });
});
