import type { Gist, Gists } from '../../codehost/gists.ts';
import { type ErrorCode, ToolError } from '../../core/errors.ts';
import type { CallContext } from '../../core/tool.ts';
import { type Library, createLibrary, type LibraryOptions } from './library.ts';
import { createLock } from './lock.ts';
import { writeLabel } from './marker.ts';
import { type Note, readNote } from './note.ts';
import { type Change, checkVersion, sendChange, toContents, toGistChange } from './write.ts';

export interface Found {
  total: number;
  notes: Note[];
  /** Why the answer may lack something. */
  incomplete?: string;
}

type Context = Pick<CallContext, 'signal' | 'progress'>;

/** The actions of the tool. Their arguments have passed policy.ts. */
export interface KnowledgeBase {
  /** Newest first. */
  list(tags: readonly string[], limit: number, context: Context): Promise<Found>;
  /** Best first. */
  search(query: string, tags: readonly string[], limit: number, context: Context): Promise<Found>;
  get(
    id: string,
    part: { file?: string | undefined; offset?: number | undefined },
    context: Context,
  ): Promise<Note>;
  create(
    title: string,
    tags: readonly string[],
    files: Record<string, string>,
    context: Context,
  ): Promise<Note>;
  update(id: string, change: Change, expected: string | undefined, context: Context): Promise<Note>;
  remove(id: string, expected: string | undefined, context: Context): Promise<void>;
  close(): Promise<void>;
}

/** How old the list may be. A look-up that misses asks again in any case. */
const LIST_AGE_MS = 2_000;
const RECENT_AGE_MS = 2_000;
const DELETIONS_AGE_MS = 60_000;
/** How long a search waits for the index; the call itself may take a minute. */
const FILL_WAIT_MS = 45_000;
const PROGRESS_MS = 1_000;

/** Faults in spite of which the index still answers. */
const OUTAGES: readonly ErrorCode[] = [
  'rate_limited',
  'timeout',
  'upstream_error',
  'connection_refused',
  'too_large',
];

export function createKnowledgeBase(gists: Gists, options: LibraryOptions): KnowledgeBase {
  const library = createLibrary(gists, options);
  const lock = createLock();

  /** A note, read anew. Gists that are no notes are not even read. */
  async function current(id: string, signal: AbortSignal): Promise<Gist> {
    if (!library.head(id)) await library.refreshAll(0, signal);
    if (!library.head(id)) throw notFound(id, options.all);
    try {
      const gist = await gists.get(id, signal);
      if (library.isNote(gist)) return gist;
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== 'not_found') throw error;
    }
    library.drop(id);
    throw notFound(id, options.all);
  }

  /** Brings the index up to date as far as that goes now. @returns why it is not, where it isn't */
  async function upToDate({ signal, progress }: Context): Promise<string | undefined> {
    try {
      const { total } = library.progress();
      if (total === 0 || !library.listed()) await library.refreshAll(RECENT_AGE_MS, signal);
      else await library.refreshRecent(RECENT_AGE_MS, signal);
      await filled(library, signal, progress);
    } catch (error) {
      const { done, total } = library.progress();
      const outage = error instanceof ToolError && OUTAGES.includes(error.code) && !signal.aborted;
      if (!outage || done === 0) throw error;
      return `${done} of ${total} notes were searched: ${error.message}`;
    }
    // Deletions made elsewhere: a look that no search needs to wait for.
    library.refreshAll(DELETIONS_AGE_MS, signal).catch(() => {});
    const { done, total } = library.progress();
    if (done < total) return `${done} of ${total} notes were searched; the others are being read. Ask again.`;
    const { cut } = library.index;
    return cut.size > 0
      ? `${cut.size} large notes were searched in part: ${[...cut].slice(0, 5).join(', ')}`
      : undefined;
  }

  return {
    async list(tags, limit, { signal }) {
      await library.refreshAll(LIST_AGE_MS, signal);
      library.fill().catch(() => {});
      const notes = library
        .heads()
        .filter((head) => hasTags(head, tags))
        .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
      return { total: notes.length, notes: notes.slice(0, limit) };
    },

    async search(query, tags, limit, context) {
      const incomplete = await upToDate(context);
      const tagged = (id: string) => {
        const head = library.head(id);
        return head !== undefined && hasTags(head, tags);
      };
      // Looking up each of ten thousand matches takes as long as finding them.
      const accept = tags.length === 0 ? () => true : tagged;
      const { total, hits } = library.index.search(query, accept, limit);
      const notes = hits.flatMap(({ id, words }) => {
        const head = library.head(id);
        const excerpt = library.index.excerpt(id, words);
        return head ? [{ ...head, ...(excerpt !== undefined && { excerpt }) }] : [];
      });
      return { total, notes, ...(incomplete !== undefined && { incomplete }) };
    },

    async get(id, part, { signal }) {
      const gist = await current(id, signal);
      await library.put(gist);
      return readNote(gists, gist, { ...part, signal });
    },

    async create(title, tags, files, { signal }) {
      const description = writeLabel({ title, tags: [...tags] });
      const gist = await gists.create({ description, files: toContents(files) }, signal);
      await library.put(gist);
      return readNote(gists, gist, { signal });
    },

    update: (id, change, expected, { signal }) =>
      lock(id, async () => {
        const before = await current(id, signal);
        checkVersion(before, expected);
        const after = await sendChange(gists, before, toGistChange(before, change), signal);
        await library.put(after);
        return readNote(gists, after, { signal });
      }),

    remove: (id, expected, { signal }) =>
      lock(id, async () => {
        checkVersion(await current(id, signal), expected);
        await gists.remove(id, signal);
        library.drop(id);
      }),

    close: () => library.close(),
  };
}

/** Waits for the index, at most as long as a client waits, and tells how far it is. */
async function filled(library: Library, signal: AbortSignal, progress: Context['progress']): Promise<void> {
  const tell = () => {
    const { done, total } = library.progress();
    if (done < total) progress(`Reading notes: ${done} of ${total}`);
  };
  tell();
  const ticking = setInterval(tell, PROGRESS_MS);
  let enough: NodeJS.Timeout | undefined;
  let leave = () => {};
  const waited = new Promise<void>((resolve, reject) => {
    enough = setTimeout(resolve, FILL_WAIT_MS);
    leave = () => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    await Promise.race([library.fill(), waited]);
  } finally {
    clearInterval(ticking);
    clearTimeout(enough);
    signal.removeEventListener('abort', leave);
  }
}

function hasTags(note: Note, wanted: readonly string[]): boolean {
  const own = note.tags.map((tag) => tag.toLowerCase());
  return wanted.every((tag) => own.includes(tag.trim().toLowerCase()));
}

function notFound(id: string, all: boolean): ToolError {
  return new ToolError('not_found', `There is no note with the id "${id}".`, {
    hint: all
      ? 'list and search show the ids.'
      : 'list and search show the ids. A gist is a note when it is secret and "[snippet-kb]" stands in its description; SNIPPET_KB_ALL=true takes in all gists.',
  });
}
