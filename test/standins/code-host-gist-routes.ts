import type { Context } from 'hono';

import { type CodeHostEnv, type CodeHostParts, apiError, baseUrl } from './code-host.ts';
import type { GistStore, StandinFile, StoredGist } from './code-host-gists.ts';

const TYPES: Record<string, string> = { md: 'text/markdown', png: 'image/png', ts: 'application/typescript' };
/** What is given of a file, and of the list of files. */
const MOST_CONTENT = 1_000_000;
const MOST_FILES = 300;
const LARGEST_RAW = 10 * 1024 * 1024;

export function addGistRoutes({ app, options, now }: CodeHostParts, store: GistStore): void {
  const stamp = () => `${new Date(now()).toISOString().slice(0, 19)}Z`;
  const login = (c: Context<CodeHostEnv>) => c.get('token')?.login ?? '';

  /** Why a token may not write gists. */
  function mayNotWrite(c: Context<CodeHostEnv>): Response | undefined {
    const token = c.get('token');
    // Without the scope the code host behaves as if there were nothing to write to.
    if (token?.scopes) return token.scopes.includes('gist') ? undefined : apiError(404);
    if (token?.permissions?.includes('gists:write')) return undefined;
    return apiError(403, undefined, undefined, { 'x-accepted-github-permissions': 'gists=write' });
  }

  app.get('/gists', (c) => {
    const perPage = Math.min(Number(c.req.query('per_page') ?? 30), 100);
    const page = Number(c.req.query('page') ?? 1);
    const since = c.req.query('since') ?? '';
    if (since !== '' && Number.isNaN(Date.parse(since))) return apiError(422, 'Invalid time');
    const token = c.get('token');
    const secret = token?.scopes?.includes('gist') || token?.permissions?.includes('gists:write');
    const listed = store
      .all()
      .filter((gist) => gist.owner === login(c) && (gist.public || secret) && gist.updated_at >= since);
    const last = Math.max(1, Math.ceil(listed.length / perPage));
    const to = (number: number, rel: string) => {
      const url = new URL(c.req.url);
      url.searchParams.set('page', String(number));
      return `<${url.href}>; rel="${rel}"`;
    };
    const links = page < last ? [to(page + 1, 'next'), to(last, 'last')] : [];
    const shown = listed.slice((page - 1) * perPage, page * perPage);
    return c.json(
      shown.map((gist) => toJson(c, gist, false)),
      200,
      links.length > 0 ? { link: links.join(', ') } : {},
    );
  });

  app.post('/gists', async (c) => {
    const refusal = mayNotWrite(c);
    if (refusal) return refusal;
    const { description = '', public: open = false, files } = await c.req.json<NewGist>();
    const merged = merge({}, files);
    if (merged instanceof Response) return merged;
    const gist = store.create({ owner: login(c), description, public: open, files: merged }, stamp());
    return c.json(toJson(c, gist, true), 201);
  });

  app.get('/gists/:id', (c) => {
    const gist = store.get(c.req.param('id'));
    return gist ? c.json(toJson(c, gist, true)) : apiError(404);
  });

  app.patch('/gists/:id', async (c) => {
    const gist = store.get(c.req.param('id'));
    const refusal = mayNotWrite(c);
    if (refusal) return refusal;
    if (!gist || gist.owner !== login(c)) return apiError(404);
    const { description, files } = await c.req.json<Partial<NewGist>>();
    const merged = files && merge(gist.files, files);
    if (merged instanceof Response) return merged;
    store.update(
      gist,
      { ...(description !== undefined && { description }), ...(merged && { files: merged }) },
      stamp(),
    );
    return c.json(toJson(c, gist, true));
  });

  app.delete('/gists/:id', (c) => {
    const gist = store.get(c.req.param('id'));
    const refusal = mayNotWrite(c);
    if (refusal) return refusal;
    if (!gist || gist.owner !== login(c)) return apiError(404);
    store.remove(gist.id);
    return new Response(null, { status: 204 });
  });

  // The one query that there is: texts of gists by their node ids.
  app.post('/graphql', async (c) => {
    const { variables } = await c.req.json<{ variables: { ids: string[] } }>();
    const secret = c.get('token')?.scopes?.includes('gist') ?? true;
    const nodes = variables.ids.map((id) => {
      const gist = store.get(id.replace(/^G_/, ''));
      if (!gist || (!secret && !gist.public)) return null;
      const files = Object.entries(gist.files).slice(0, MOST_FILES);
      return {
        name: gist.id,
        updatedAt: gist.updated_at,
        files: files.map(([name, file]) => ({ name, ...graphqlText(file) })),
      };
    });
    const missing = nodes.some((node) => node === null);
    return c.json({ data: { nodes }, ...(missing && { errors: [{ type: 'NOT_FOUND', message: 'gone' }] }) });
  });

  app.get('/raw/:login/:id/:sha/:name', (c) => {
    const file = store.get(c.req.param('id'))?.files[c.req.param('name')];
    if (file === undefined || bytesOf(file).length > LARGEST_RAW)
      return new Response('Not Found', { status: 404 });
    return new Response(Uint8Array.from(bytesOf(file)), {
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    });
  });

  function toJson(c: Context<CodeHostEnv>, gist: StoredGist, whole: boolean): object {
    const base = baseUrl(c);
    const names = Object.keys(gist.files).sort();
    const raw = options.rawOrigin ?? base;
    const sha = gist.history[0]?.version ?? '';
    const files = names.slice(0, MOST_FILES).map((name): [string, object] => {
      const head = {
        filename: name,
        type: TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain',
        language: null,
        raw_url: `${raw}/raw/${gist.owner}/${gist.id}/${sha}/${encodeURIComponent(name)}`,
        size: bytesOf(gist.files[name] ?? '').length,
      };
      return [name, whole ? { ...head, ...contentOf(gist.files[name] ?? '') } : head];
    });
    return {
      url: `${base}/gists/${gist.id}`,
      id: gist.id,
      node_id: `G_${gist.id}`,
      git_pull_url: `https://gist.example/${gist.id}.git`,
      html_url: `https://gist.example/${gist.owner}/${gist.id}`,
      files: Object.fromEntries(files),
      public: gist.public,
      created_at: gist.created_at,
      updated_at: gist.updated_at,
      description: gist.description,
      comments: 0,
      owner: { login: gist.owner, type: 'User' },
      truncated: whole && names.length > MOST_FILES,
      ...(whole && { history: gist.history.slice(0, 30), forks: [] }),
    };
  }
}

interface NewGist {
  description?: string;
  public?: boolean;
  files: Record<string, { content?: string; filename?: string } | null>;
}

/** Files after a change, or the refusal of it. */
function merge(before: StoredGist['files'], change: NewGist['files']): StoredGist['files'] | Response {
  const files = new Map(Object.entries(before));
  const invalid = (field: string) =>
    apiError(422, undefined, [{ resource: 'Gist', code: 'missing_field', field }]);
  for (const [name, file] of Object.entries(change)) {
    const old = files.get(name);
    if (file === null && old === undefined) return invalid('files');
    if (file === null || (file.filename !== undefined && file.filename !== name)) files.delete(name);
    if (file === null) continue;
    const content = file.content ?? old;
    if (content === undefined || (typeof content === 'string' && content.trim() === ''))
      return invalid('files');
    files.set(file.filename ?? name, content);
  }
  return files.size === 0 ? invalid('files') : Object.fromEntries(files);
}

function bytesOf(file: StandinFile): Buffer {
  return typeof file === 'string' ? Buffer.from(file) : Buffer.from(file.base64, 'base64');
}

function contentOf(file: StandinFile): object {
  if (typeof file !== 'string') return { truncated: false, content: file.base64, encoding: 'base64' };
  const truncated = Buffer.byteLength(file) > MOST_CONTENT;
  return { truncated, content: truncated ? file.slice(0, MOST_CONTENT) : file, encoding: 'utf-8' };
}

function graphqlText(file: StandinFile): object {
  if (typeof file !== 'string') return { text: null, isTruncated: false };
  const isTruncated = Buffer.byteLength(file) > MOST_CONTENT;
  return { text: isTruncated ? file.slice(0, MOST_CONTENT) : file, isTruncated };
}
