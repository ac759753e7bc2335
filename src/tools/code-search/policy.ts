import { ALLOW, type Decision } from '../../core/decision.ts';
import { ToolError } from '../../core/errors.ts';
import type { SearchKind } from '../../codehost/search.ts';

export interface SearchInput {
  query: string;
  kind: SearchKind;
  repo?: string | undefined;
  owner?: string | undefined;
  language?: string | undefined;
  path?: string | undefined;
  page: number;
  per_page: number;
}

/** The filters that the API knows for each kind; it answers others with an empty result or an obscure 422. */
const FILTERS: Record<SearchKind, readonly ('repo' | 'owner' | 'language' | 'path')[]> = {
  code: ['repo', 'owner', 'language', 'path'],
  repositories: ['repo', 'owner', 'language'],
  issues: ['repo', 'owner', 'language'],
  commits: ['repo', 'owner'],
};

/** A quotation mark or a line break in a value could end its filter and begin another one. */
const VALUES = [
  ['repo', /^[\w-]+\/[\w.-]+$/, 'of the form owner/name'],
  ['owner', /^[\w-]+$/, 'the name of a user or an organisation'],
  ['language', /^[^"\\\p{C}]*[^"\\\p{C}\s][^"\\\p{C}]*$/u, 'a language without quotation marks'],
  ['path', /^[^"\\\p{C}]*[^"\\\p{C}\s][^"\\\p{C}]*$/u, 'a path without quotation marks and backslashes'],
] as const;
const LONGEST_VALUE = 200;
const LONGEST_QUERY = 256;
const MOST_OPERATORS = 5;
const MOST_RESULTS = 1000;

const QUALIFIER = /(?<![^\s(])-?[a-z][\w-]*:(?:"[^"]*"|\S+)/gi;
const OPERATOR = /(?<![^\s(])(?:AND|OR|NOT)(?![^\s)])/g;

/** Refuses, with the reason, what the code host is known to refuse: its searches are too few to spend on that. */
export function decideSearch(input: SearchInput): Decision {
  const fault = faultOf(input);
  return fault === undefined
    ? ALLOW
    : { verdict: 'refuse', rule: 'search limits', error: new ToolError('invalid_input', ...fault) };
}

function faultOf(input: SearchInput): [message: string, details?: { hint: string }] | undefined {
  const { query, kind, page, per_page: perPage } = input;
  for (const name of ['repo', 'owner', 'language', 'path'] as const) {
    if (input[name] !== undefined && !FILTERS[kind].includes(name)) {
      return [
        `"${name}" does not work with kind ${kind}.`,
        { hint: `It knows ${FILTERS[kind].join(', ')}.` },
      ];
    }
  }
  for (const [name, pattern, expected] of VALUES) {
    const value = input[name];
    if (value !== undefined && (value.length > LONGEST_VALUE || !pattern.test(value))) {
      return [`${name} "${value.slice(0, 64)}" is not ${expected}.`];
    }
  }
  const unquoted = query.replaceAll(/"[^"]*"/g, '""');
  const operators = unquoted.match(OPERATOR)?.length ?? 0;
  if (operators > MOST_OPERATORS) {
    return [`The query has ${operators} AND, OR, NOT; the code host takes at most ${MOST_OPERATORS}.`];
  }
  const { length } = query.replaceAll(QUALIFIER, '').replaceAll(OPERATOR, '').replaceAll(/\s+/g, ' ').trim();
  if (length > LONGEST_QUERY) {
    return [
      `The query has ${length} characters besides qualifiers; the code host takes at most ${LONGEST_QUERY}.`,
      { hint: 'Search for fewer, rarer words.' },
    ];
  }
  if (query.split('"').length % 2 === 0) {
    return ['The query has a quotation mark without its partner.'];
  }
  if (page * perPage > MOST_RESULTS) {
    return [
      `page ${page} of ${perPage} ends after result ${MOST_RESULTS}, the last one that the code host gives.`,
      {
        hint: `The last page of ${perPage} is ${Math.floor(MOST_RESULTS / perPage)}; narrow the query for others.`,
      },
    ];
  }
  return undefined;
}

/**
 * The `q` of a search. Values of filters have passed `decideSearch`, hold no quotation mark, and are quoted where
 * they hold anything but a plain word, so that none can bring a qualifier of its own.
 */
export function searchQuery({ query, kind, repo, owner, language, path }: SearchInput): string {
  const parts: string[] = [];
  if (repo !== undefined) parts.push(`repo:${repo}`);
  if (owner !== undefined) parts.push(`user:${owner}`);
  if (language !== undefined) parts.push(`language:${quoted(language)}`);
  if (path !== undefined) parts.push(`path:${quoted(path)}`);
  // Without one of these the API refuses, and it has none for both.
  if (kind === 'issues' && !/(?<![^\s(])(?:is|type):"?(?:issue|pr|pull-request)\b/i.test(query)) {
    parts.push('is:issue');
  }
  // There an OR binds weaker than the space between filters: the second branch would escape them.
  const branches = kind === 'issues' && parts.length > 0 && /(?<![^\s(])OR(?![^\s)])/.test(query);
  parts.push(branches ? `(${query.trim()})` : query.trim());
  return parts.join(' ');
}

function quoted(value: string): string {
  return /^[\w#+./-]+$/.test(value) ? value : `"${value}"`;
}
