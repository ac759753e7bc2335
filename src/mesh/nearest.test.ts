import { expect, test } from 'vitest';

import { nearest } from './nearest.ts';

const names = ['web-1', 'web-2', 'web-10', 'db-1', 'laptop-1', 'Workstation', 'nas'];

test.each([
  ['web-3', ['web-1', 'web-2']],
  ['web-12', ['web-1', 'web-2', 'web-10']],
  ['wbe-1', ['web-1']],
  ['WORKSTATOIN', ['Workstation']],
  ['work', ['Workstation']],
  ['web-1.other-net.ts.net', ['web-1']],
  ['laptop', ['laptop-1']],
  ['nsa', ['nas']],
  ['na', ['nas']],
  ['printer', []],
  ['', []],
])('names like %j', (asked, expected) => {
  expect(nearest(asked, names)).toStrictEqual(expected);
});
