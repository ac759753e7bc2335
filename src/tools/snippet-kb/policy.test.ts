import { describe, expect, it } from 'vitest';

import { type SnippetInput, decideSnippet } from './policy.ts';

type Case = [input: Omit<SnippetInput, 'limit'>, message: string];

function refusal(input: Omit<SnippetInput, 'limit'>): string | undefined {
  const decision = decideSnippet({ limit: 20, ...input });
  return decision.verdict === 'refuse' && 'error' in decision ? decision.error.message : undefined;
}

describe('refused', () => {
  it.each<Case>([
    [{ action: 'search' }, 'search needs query.'],
    [{ action: 'get', id: '' }, 'get needs id.'],
    [{ action: 'create', tags: ['x'] }, 'create needs title and files.'],
    [{ action: 'update', id: 'a1' }, 'update needs title, tags or files: there is nothing to change.'],
    [{ action: 'list', query: 'x' }, 'list does nothing with query; it takes tags.'],
    [
      { action: 'delete', id: 'a1', title: 'x' },
      'delete does nothing with title; it takes id, expected_version.',
    ],
    [{ action: 'get', id: 'a1', offset: 5 }, 'offset needs file, the name of the file to read on.'],
    [
      { action: 'get', id: '../user' },
      '"../user" is not the id of a note: letters and digits, as list and search give it.',
    ],
    [{ action: 'create', title: 'a\nb', files: { a: 'x' } }, 'title must be one line that is not blank.'],
    [{ action: 'create', title: ' ', files: { a: 'x' } }, 'title must be one line that is not blank.'],
    [{ action: 'create', title: 'x'.repeat(201), files: { a: 'x' } }, 'title is longer than 200 characters.'],
    [{ action: 'search', query: 'x'.repeat(257) }, 'query is longer than 256 characters.'],
    [
      { action: 'list', tags: ['a,b'] },
      '"a,b" cannot be a tag: at most 50 characters, no comma, no bracket.',
    ],
    [{ action: 'create', title: 'x', files: { a: null } }, '"a" is null; create needs its content.'],
    [
      { action: 'create', title: 'x', files: { a: ' \n' } },
      '"a" is blank, which the code host refuses; null deletes a file.',
    ],
    [
      { action: 'create', title: 'x', files: { 'a/b': 'x' } },
      '"a/b" cannot be a file name: no slash, no line break, no blank at its ends, at most 255 characters.',
    ],
    [
      { action: 'update', id: 'a1', files: { gistfile1: 'x' } },
      '"gistfile1" cannot be a file name: the code host uses such names itself.',
    ],
  ])('%j', (input, message) => {
    expect(refusal(input)).toBe(message);
  });
});

describe('allowed', () => {
  it.each<[Omit<SnippetInput, 'limit'>]>([
    [{ action: 'list' }],
    [{ action: 'list', id: '', title: '', files: {}, query: '' }],
    [{ action: 'search', query: 'x', tags: ['a b'] }],
    [{ action: 'get', id: 'a1', file: 'x', offset: 5 }],
    [{ action: 'create', title: 'x', files: { 'a b.md': 'x' } }],
    [{ action: 'update', id: 'a1', tags: [] }],
    [{ action: 'update', id: 'a1', files: { a: null }, expected_version: 'v' }],
    [{ action: 'delete', id: 'a1', expected_version: 'v' }],
  ])('%j', (input) => {
    expect(refusal(input)).toBeUndefined();
  });
});
