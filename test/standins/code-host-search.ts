import type { Context } from 'hono';

import { type CodeHostEnv, type CodeHostParts, apiError, baseUrl } from './code-host.ts';

/** A repository that the search knows. */
export interface StandinRepository {
  /** owner/name */
  name: string;
  description?: string;
  private?: boolean;
  language?: string;
  files?: Record<string, string>;
  issues?: { title: string; body?: string; pull?: boolean }[];
  commits?: string[];
}

interface Query {
  terms: string[];
  qualifiers: [key: string, value: string][];
}

/** What a search found: the entry and the texts to show fragments of. */
interface Found {
  item: object;
  url: string;
  texts: [type: string, property: string, text: string][];
}

const HEAD = '0123456789abcdef0123456789abcdef01234567';
const MOST_RESULTS = 1000;

/** Plain words, all of which must stand in the text; the qualifiers repo, user, org, language, path and is. */
export function addSearchRoutes({ app, options: { repositories = [] } }: CodeHostParts): void {
  app.get('/search/:kind{code|repositories|issues|commits}', (c) => {
    const { kind } = c.req.param();
    const q = c.req.query('q') ?? '';
    const perPage = Math.min(Number(c.req.query('per_page') ?? 30), 100);
    const page = Number(c.req.query('page') ?? 1);
    const query = parse(q);
    if (query instanceof Response) return query;
    if (q.trim() === '')
      return apiError(422, undefined, [{ resource: 'Search', field: 'q', code: 'missing' }]);
    if (kind === 'code' && query.terms.length === 0) return invalid('Must include at least one search term');
    if (
      kind === 'issues' &&
      !query.qualifiers.some(([key, value]) => key === 'is' && /^(?:issue|pr|pull-request)$/.test(value))
    ) {
      return apiError(422, "Query must include 'is:issue' or 'is:pull-request'");
    }
    if (page * perPage > MOST_RESULTS)
      return apiError(422, 'Only the first 1000 search results are available');

    const token = c.get('token');
    const seesPrivate = token?.scopes?.includes('repo') || token?.permissions?.includes('contents:read');
    const visible = repositories.filter((repository) => !repository.private || seesPrivate);
    const scoped = within(visible, query);
    if (scoped instanceof Response) return scoped;
    const found = scoped.flatMap((repository) => FINDERS[kind]?.(c, repository, query) ?? []);
    const matching = found.filter(({ texts }) =>
      query.terms.every((term) => texts.some(([, , text]) => text.toLowerCase().includes(term))),
    );
    const highlighted = c.req.header('accept')?.includes('text-match') ?? false;
    return c.json({
      total_count: matching.length,
      incomplete_results: false,
      items: matching.slice((page - 1) * perPage, page * perPage).map((entry) => ({
        ...entry.item,
        ...(highlighted && { text_matches: highlight(entry, query.terms) }),
      })),
    });
  });
}

function invalid(message: string): Response {
  return apiError(422, undefined, [{ message, resource: 'Search', field: 'q', code: 'invalid' }]);
}

function parse(q: string): Query | Response {
  if (q.split('"').length % 2 === 0)
    return apiError(422, 'ERROR_TYPE_QUERY_PARSING_FATAL unable to parse query!');
  const tokens = q.match(/(?:[\w-]+:)?"[^"]*"|[^\s()]+/g) ?? [];
  const qualifiers: Query['qualifiers'] = [];
  const words: string[] = [];
  let operators = 0;
  for (const token of tokens) {
    const [, key, quoted, plain] = /^([a-z][\w-]*):(?:"([^"]*)"|(.+))$/.exec(token) ?? [];
    if (key !== undefined) qualifiers.push([key, quoted ?? plain ?? '']);
    else if (/^(?:AND|OR|NOT)$/.test(token)) operators += 1;
    else words.push(token.replaceAll('"', ''));
  }
  if (words.join(' ').length > 256) return invalid('The search is longer than 256 characters.');
  if (operators > 5) return invalid('More than five AND / OR / NOT operators were used.');
  return { terms: words.map((word) => word.toLowerCase()), qualifiers };
}

function within(visible: StandinRepository[], { qualifiers }: Query): StandinRepository[] | Response {
  const values = (...keys: string[]) =>
    qualifiers.filter(([key]) => keys.includes(key)).map(([, value]) => value.toLowerCase());
  const repos = values('repo');
  const owners = values('user', 'org');
  const languages = values('language');
  if (repos.length + owners.length > 0) {
    const known = visible.filter(
      ({ name }) =>
        repos.includes(name.toLowerCase()) || owners.includes(name.toLowerCase().split('/')[0] ?? ''),
    );
    if (known.length === 0) {
      return invalid(
        'The listed users and repositories cannot be searched either because the resources do not exist or you do not have permission to view them.',
      );
    }
    visible = known;
  }
  return visible.filter(
    ({ language }) => languages.length === 0 || languages.includes(language?.toLowerCase() ?? ''),
  );
}

type Finder = (c: Context<CodeHostEnv>, repository: StandinRepository, query: Query) => Found[];

const FINDERS: Record<string, Finder> = {
  code: (c, repository, { qualifiers }) =>
    Object.entries(repository.files ?? {})
      .filter(([path]) => qualifiers.every(([key, value]) => key !== 'path' || path.startsWith(value)))
      .map(([path, text]) => {
        const url = `${baseUrl(c)}/repos/${repository.name}/contents/${path}?ref=${HEAD}`;
        return {
          url,
          item: {
            name: path.split('/').at(-1),
            path,
            sha: HEAD,
            url,
            html_url: `https://code.example/${repository.name}/blob/${HEAD}/${path}`,
            repository: summary(c, repository),
            score: 1,
          },
          texts: [
            ['FileContent', 'content', text],
            ['FileContent', 'path', path],
          ],
        };
      }),
  repositories: (c, repository) => [
    {
      url: `${baseUrl(c)}/repos/${repository.name}`,
      item: summary(c, repository),
      texts: [
        ['Repository', 'name', repository.name],
        ['Repository', 'description', repository.description ?? ''],
      ],
    },
  ],
  issues: (c, repository, { qualifiers }) =>
    (repository.issues ?? []).flatMap(({ title, body = '', pull = false }, at): Found[] => {
      const number = at + 1;
      const wanted = qualifiers.every(([key, value]) => key !== 'is' || (value === 'issue') === !pull);
      if (!wanted) return [];
      const url = `${baseUrl(c)}/repos/${repository.name}/issues/${number}`;
      return [
        {
          url,
          item: {
            number,
            title,
            state: 'open',
            url,
            html_url: `https://code.example/${repository.name}/${pull ? 'pull' : 'issues'}/${number}`,
            repository_url: `${baseUrl(c)}/repos/${repository.name}`,
            ...(pull && { pull_request: { url } }),
          },
          texts: [
            ['Issue', 'title', title],
            ['Issue', 'body', body],
          ],
        },
      ];
    }),
  commits: (c, repository) =>
    (repository.commits ?? []).map((message, at) => {
      const sha = `${HEAD.slice(0, -4)}${String(at).padStart(4, '0')}`;
      const url = `${baseUrl(c)}/repos/${repository.name}/commits/${sha}`;
      return {
        url,
        item: {
          sha,
          url,
          html_url: `https://code.example/${repository.name}/commit/${sha}`,
          commit: { message },
          repository: summary(c, repository),
        },
        texts: [['Commit', 'message', message]],
      };
    }),
};

function summary(
  c: Context<CodeHostEnv>,
  { name, description, private: hidden = false }: StandinRepository,
): object {
  return {
    full_name: name,
    name: name.split('/')[1],
    private: hidden,
    owner: { login: name.split('/')[0] },
    html_url: `https://code.example/${name}`,
    description: description ?? null,
    url: `${baseUrl(c)}/repos/${name}`,
    default_branch: 'main',
  };
}

/** Fragments of some 80 characters around the first place of each term, with places counted in the fragment. */
function highlight({ texts, url }: Found, terms: string[]): object[] {
  return texts.flatMap(([type, property, text]) =>
    terms.flatMap((term) => {
      const at = text.toLowerCase().indexOf(term);
      if (at < 0) return [];
      const from = Math.max(0, at - 40);
      const fragment = text.slice(from, at + term.length + 40);
      const indices = [at - from, at - from + term.length];
      return [
        {
          object_url: url,
          object_type: type,
          property,
          fragment,
          matches: [{ text: fragment.slice(indices[0], indices[1]), indices }],
        },
      ];
    }),
  );
}
