import { stripInvisible } from '../../core/visible-text.ts';
import type { SearchKind, SearchPage, TextMatch } from '../../codehost/search.ts';

export interface Match {
  fragment: string;
  line?: number;
}

/** One result, the same shape for every kind. */
export interface Item {
  /** owner/name */
  repository: string;
  /** Of the file; `issues/12` or `pull/12`; empty for a repository or a commit. */
  path: string;
  url: string;
  /** The commit that was searched, the commit found, or the default branch; null for an issue. */
  ref: string | null;
  /** For an issue its title comes first, for a commit its subject, for a repository its description. */
  matches: Match[];
}

const LONGEST_FRAGMENT = 1000;

type Convert = { [Kind in SearchKind]: (item: SearchPage<Kind>['items'][number]) => Item };

const convert: Convert = {
  code: (item) => ({
    repository: item.repository.full_name,
    path: item.path,
    url: item.html_url,
    ref: refOf(item.url ?? '') ?? refOf(item.html_url),
    matches: matchesOf(item.text_matches, item.html_url),
  }),
  repositories: (item) => ({
    repository: item.full_name,
    path: '',
    url: item.html_url,
    ref: item.default_branch ?? null,
    matches: headed(item.description ?? '', item.text_matches),
  }),
  issues: (item) => ({
    repository: new URL(item.repository_url).pathname.split('/').slice(-2).join('/'),
    path: `${item.pull_request ? 'pull' : 'issues'}/${item.number}`,
    url: item.html_url,
    ref: null,
    matches: headed(item.title, item.text_matches),
  }),
  commits: (item) => ({
    repository: item.repository.full_name,
    path: '',
    url: item.html_url,
    ref: item.sha,
    matches: headed(item.commit.message.split('\n', 1)[0] ?? '', item.text_matches),
  }),
};

/** Results of a search in the tool's own shape, without invisible characters. */
export function toItems<Kind extends SearchKind>(kind: Kind, { items }: SearchPage<Kind>): Item[] {
  return items.map(convert[kind]).map((item) => ({
    ...item,
    path: stripInvisible(item.path),
    matches: item.matches.map((match) => ({
      ...match,
      fragment: stripInvisible(match.fragment).slice(0, LONGEST_FRAGMENT),
    })),
  }));
}

/**
 * The API gives a fragment and its place within that fragment, but not the fragment's place in the file; only an
 * address that ends in `#L12` tells the line. Reading each file to find it would cost a request a result.
 */
function matchesOf(textMatches: readonly TextMatch[] | null | undefined, address: string): Match[] {
  return (textMatches ?? []).map(({ fragment, object_url: own }) => {
    const line = lineOf(own ?? '') ?? lineOf(address);
    return { fragment, ...(line !== undefined && { line }) };
  });
}

/** The matches, with `head` before them unless one of them is the same. */
function headed(head: string, textMatches: readonly TextMatch[] | null | undefined): Match[] {
  const matches = matchesOf(textMatches, '').filter(({ fragment }) => fragment !== head);
  return head === '' ? matches : [{ fragment: head }, ...matches];
}

function lineOf(address: string): number | undefined {
  const line = /#L(\d+)/.exec(address)?.[1];
  return line === undefined ? undefined : Number(line);
}

function refOf(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  return url.searchParams.get('ref') ?? /\/blob\/([0-9a-f]{40})\//.exec(url.pathname)?.[1] ?? null;
}
