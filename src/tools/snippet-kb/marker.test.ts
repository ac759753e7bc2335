import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readLabel, writeLabel } from './marker.ts';

describe('the marker in a description', () => {
  it.each([
    ['Backing up [snippet-kb]', { title: 'Backing up', tags: [] }],
    ['Backing up [snippet-kb: nas, backup]', { title: 'Backing up', tags: ['nas', 'backup'] }],
    ['[snippet-kb] typed before', { title: 'typed before', tags: [] }],
    [
      'Backing up [Snippet-KB:nas,,nas ] edited by hand',
      { title: 'Backing up edited by hand', tags: ['nas'] },
    ],
    [
      'About [snippet-kb: x] markers [snippet-kb: y]',
      { title: 'About [snippet-kb: x] markers', tags: ['y'] },
    ],
    ['[snippet-kb: [snippet-kb]', { title: '[snippet-kb:', tags: [] }],
    ['[snippet-kb: a]', { title: '', tags: ['a'] }],
    ['Issue #12 [draft] [snippet-kb]', { title: 'Issue #12 [draft]', tags: [] }],
  ])('%s', (description, label) => {
    expect(readLabel(description)).toEqual(label);
  });

  it.each(['', 'plain', 'snippet-kb', '[snippet_kb]', '[snippet-kb', '[snippet-kbx]', '[kb] x'])(
    'is not in "%s"',
    (description) => {
      expect(readLabel(description)).toBeUndefined();
    },
  );

  it('comes back as it was written, whatever title and tags', () => {
    const line = fc
      .oneof(
        fc.string(),
        fc.string({ unit: fc.constantFrom('[', ']', 'snippet-kb', ':', ',', ' ', '#', 'a') }),
      )
      .map((text) => text.trim());
    const tag = fc
      .string({ minLength: 1 })
      .map((text) => text.replaceAll(/[,[\]\s]/g, '-'))
      .filter((text) => text.trim() === text);
    fc.assert(
      fc.property(line, fc.uniqueArray(tag, { maxLength: 5 }), (title, tags) => {
        expect(readLabel(writeLabel({ title, tags }))).toEqual({ title, tags });
      }),
      { numRuns: 2000 },
    );
  });
});
