import { setImmediate as turn } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { gatherLines } from './log.ts';

it('gathers the lines of one turn, in order, and writes what is held when it is flushed', async () => {
  const written: string[] = [];
  const { write, flush } = gatherLines((text) => written.push(text));
  write('a\n');
  write('b\n');
  expect(written).toEqual([]);
  await turn();
  expect(written).toEqual(['a\nb\n']);
  write('c\n');
  flush();
  flush();
  expect(written).toEqual(['a\nb\n', 'c\n']);
});
