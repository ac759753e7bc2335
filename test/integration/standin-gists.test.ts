import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, it } from 'vitest';

import { DEMO_GISTS } from '../standins/code-host-seed.ts';
import { openGists } from '../standins/code-host-gists.ts';

const directory = mkdtempSync(join(tmpdir(), 'gists-'));
afterAll(() => rmSync(directory, { recursive: true }));

it('gists that were kept stay when more are made after a restart', () => {
  const file = join(directory, 'gists.json');
  const make = (description: string) =>
    openGists(DEMO_GISTS, file).create(
      { owner: 'demo', description, public: false, files: { 'a.md': description } },
      '2026-11-01T10:00:00Z',
    );
  for (const description of ['one', 'two', 'three']) make(description);
  const titles = openGists(DEMO_GISTS, file)
    .all()
    .map(({ description }) => description);
  expect(titles.toSorted()).toEqual(
    [...DEMO_GISTS.map(({ description }) => description), 'one', 'two', 'three'].toSorted(),
  );
});
