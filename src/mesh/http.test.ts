import { expect, test } from 'vitest';

import { retryAfter } from './http.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

test.each([
  [null, 30],
  ['7', 7],
  ['0', 1],
  ['999999999', 3600],
  ['Fri, 20 Nov 2026 12:01:30 GMT', 90],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 1],
  ['shortly', 30],
  ['', 30],
  ['-5', 1],
])('Retry-After: %j is %d s', (header, seconds) => {
  expect(retryAfter(header, NOW)).toBe(seconds);
});
