import { describe, expect, it } from 'vitest';

import { type SearchInput, decideSearch, searchQuery } from './policy.ts';

const input = (fields: Partial<SearchInput>): SearchInput => ({
  query: 'word',
  kind: 'code',
  page: 1,
  per_page: 10,
  ...fields,
});

function refusal(fields: Partial<SearchInput>): string | undefined {
  const decision = decideSearch(input(fields));
  return decision.verdict === 'refuse' && 'error' in decision ? decision.error.message : undefined;
}

describe('searchQuery', () => {
  it.each<[string, Partial<SearchInput>, string]>([
    ['words alone', { query: ' a  b ' }, 'a  b'],
    [
      'every filter before the words',
      { repo: 'me/my.app', owner: 'me', language: 'go', path: 'src/a-b.go' },
      'repo:me/my.app user:me language:go path:src/a-b.go word',
    ],
    ['a value with a blank in quotes', { language: 'Jupyter Notebook' }, 'language:"Jupyter Notebook" word'],
    ['a value with a colon in quotes', { path: 'x repo:other/y' }, 'path:"x repo:other/y" word'],
    ['C++ and C#', { language: 'C++' }, 'language:C++ word'],
    ['is:issue where neither kind is asked for', { kind: 'issues' }, 'is:issue word'],
    ['is:pr left as it is', { kind: 'issues', query: 'word is:pr' }, 'word is:pr'],
    ['type:pr left as it is', { kind: 'issues', query: 'type:pr word' }, 'type:pr word'],
    [
      'both branches of an OR within the filters of issues',
      { kind: 'issues', repo: 'me/app', query: 'a OR b' },
      'repo:me/app is:issue (a OR b)',
    ],
    ['no brackets in code, where they are words', { repo: 'me/app', query: 'a OR b' }, 'repo:me/app a OR b'],
  ])('writes %s', (_, fields, expected) => {
    expect(searchQuery(input(fields))).toBe(expected);
  });
});

describe('decideSearch', () => {
  // A filter's value that ended its own quotes could lift the restriction to one repository.
  it.each<[string, Partial<SearchInput>, string]>([
    ['repo', { repo: 'me/app repo:other/x' }, 'repo "me/app repo:other/x" is not of the form owner/name.'],
    ['repo without owner', { repo: 'app' }, 'repo "app" is not of the form owner/name.'],
    ['owner', { owner: 'me org:x' }, 'owner "me org:x" is not the name of a user or an organisation.'],
    [
      'language',
      { language: 'go" repo:x/y "' },
      'language "go" repo:x/y "" is not a language without quotation marks.',
    ],
    ['blank', { path: ' ' }, 'path " " is not a path without quotation marks and backslashes.'],
    ['line break', { path: 'a\nb' }, 'path "a\nb" is not a path without quotation marks and backslashes.'],
  ])('refuses a smuggled %s', (_, fields, message) => {
    expect(refusal(fields)).toBe(message);
  });

  it.each<[string, Partial<SearchInput>, string]>([
    ['path of issues', { kind: 'issues', path: 'src' }, '"path" does not work with kind issues.'],
    [
      'language of commits',
      { kind: 'commits', language: 'go' },
      '"language" does not work with kind commits.',
    ],
    [
      '257 characters',
      { query: 'x'.repeat(257) },
      'The query has 257 characters besides qualifiers; the code host takes at most 256.',
    ],
    [
      'six operators',
      { query: 'a OR b OR c OR d OR e AND f NOT g' },
      'The query has 6 AND, OR, NOT; the code host takes at most 5.',
    ],
    ['an odd quotation mark', { query: 'a "b' }, 'The query has a quotation mark without its partner.'],
    [
      'result 1,010',
      { page: 101, per_page: 10 },
      'page 101 of 10 ends after result 1000, the last one that the code host gives.',
    ],
  ])('refuses %s before it is sent', (_, fields, message) => {
    expect(refusal(fields)).toBe(message);
  });

  it.each<[string, Partial<SearchInput>]>([
    ['256 characters', { query: 'x'.repeat(256) }],
    ['qualifiers beyond 256 characters', { query: `word ${'filename:package.json '.repeat(15)}` }],
    ['five operators, and more within quotes', { query: '"AND OR NOT" a OR b OR c OR d OR e OR f' }],
    ['result 1,000', { page: 10, per_page: 100 }],
  ])('allows %s', (_, fields) => {
    expect(refusal(fields)).toBeUndefined();
  });
});
