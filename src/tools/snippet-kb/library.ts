import type { GistText } from '../../codehost/gist-texts.ts';
import type { Gist, GistSummary, Gists } from '../../codehost/gists.ts';
import { ToolError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { stripInvisible } from '../../core/visible-text.ts';
import { createFill } from './fill.ts';
import { WIDTH, createListing } from './listing.ts';
import { readLabel } from './marker.ts';
import { type Note, noteHead, searchableFiles, searchableText } from './note.ts';
import { eachOf } from './pool.ts';
import { type SearchIndex, createSearchIndex } from './search-index.ts';
import { createShared } from './shared.ts';
import { versionOf } from './version.ts';

/** A note as the library knows it. */
interface Entry {
  head: Note;
  nodeId: string | undefined;
  /** How many files it has. */
  files: number;
  /** `updated_at` of the text in the index; undefined until the text was read, '' when it is to be read again. */
  indexed: string | undefined;
}

/** How far the index is. */
export interface Progress {
  done: number;
  total: number;
}

/** The account's notes: which gists they are, and the index of their text. Kept in memory only. */
export interface Library {
  readonly index: SearchIndex;
  /** Which gists are notes. */
  isNote(gist: GistSummary): boolean;
  heads(): Note[];
  head(id: string): Note | undefined;
  progress(): Progress;
  /** Whether the whole list was read once. A note made before that is known, and those older than it are not. */
  listed(): boolean;
  /** Reads the whole list again when the last reading is older than `maxAgeMs`; finds notes deleted elsewhere. */
  refreshAll(maxAgeMs: number, signal: AbortSignal): Promise<void>;
  /** Asks for what changed when that was not asked for `maxAgeMs`; one request, which doesn't find deletions. */
  refreshRecent(maxAgeMs: number, signal: AbortSignal): Promise<void>;
  /** Reads the texts that the index lacks, in the background; the same promise while that is under way. */
  fill(): Promise<void>;
  /** Takes in a gist in full, as just read or written. */
  put(gist: Gist): Promise<void>;
  drop(id: string): void;
  close(): Promise<void>;
}

export interface LibraryOptions {
  all: boolean;
  log: Log;
  /** The wall clock, in milliseconds. */
  now: () => number;
}

/** The code host's list may show a deleted gist for a moment longer. */
const GHOST_MS = 60_000;
/** A gist changed within that time of our reading may have changed again under the same `updated_at`. */
const UNSETTLED_MS = 2_000;

export function createLibrary(gists: Gists, { all, log, now }: LibraryOptions): Library {
  const entries = new Map<string, Entry>();
  /** Ids of notes whose text was never read, and of those whose text the index lacks as it is now: each search asks. */
  const unread = new Set<string>();
  const lacking = new Set<string>();
  const index = createSearchIndex();
  const listing = createListing(gists);
  const ghosts = new Map<string, number>();
  const stop = new AbortController();
  const shared = createShared(stop.signal);
  let readAll = -Infinity;
  let readRecent = -Infinity;
  /** The newest `updated_at` seen, which is the code host's clock. */
  let newest = '1970-01-01T00:00:00Z';

  const isNote = (gist: GistSummary) =>
    all || (!gist.public && readLabel(gist.description ?? '') !== undefined);

  /** To be called after each change of an entry. */
  function account(id: string): void {
    const entry = entries.get(id);
    if (entry && entry.indexed === undefined) unread.add(id);
    else unread.delete(id);
    if (entry && entry.indexed !== entry.head.updated_at) lacking.add(id);
    else lacking.delete(id);
  }

  function forget(id: string): void {
    entries.delete(id);
    index.remove(id);
    account(id);
  }

  function drop(id: string): void {
    forget(id);
    for (const [ghost, until] of ghosts) if (until <= now()) ghosts.delete(ghost);
    ghosts.set(id, now() + GHOST_MS);
  }

  function see(gist: GistSummary): void {
    if (gist.updated_at > newest) newest = gist.updated_at;
    if (!isNote(gist)) {
      forget(gist.id);
      return;
    }
    if ((ghosts.get(gist.id) ?? 0) > now()) return;
    const known = entries.get(gist.id);
    // A list that lags behind our own write must not bring the old state back.
    if (known && known.head.updated_at > gist.updated_at) return;
    const changed = known?.head.updated_at !== gist.updated_at;
    const { version } = known?.head ?? {};
    const head = { ...noteHead(gist), ...(!changed && version !== undefined && { version }) };
    entries.set(gist.id, {
      head,
      nodeId: gist.node_id ?? undefined,
      files: Object.keys(gist.files).length,
      indexed: known?.indexed,
    });
    account(gist.id);
  }

  async function put(gist: Gist, readAt = now()): Promise<void> {
    see(gist);
    const entry = entries.get(gist.id);
    // Gone, no note, or older than what is known: a reading that was overtaken by a write.
    if (!entry || entry.head.updated_at !== gist.updated_at) return;
    entry.head = { ...noteHead(gist), version: versionOf(gist) };
    // Each exchange of a text leaves work to the index that grows with all the notes.
    if (entry.indexed === gist.updated_at) return;
    const files = await searchableFiles(gists, gist, stop.signal).catch((error: unknown) => {
      // One file that can't be had must not keep the rest of the note out of the index.
      log.warn('snippet_kb: a file is not in the index', { note: gist.id, reason: String(error) });
      return Object.values(gist.files).flatMap((file) =>
        file ? [{ name: file.filename, text: file.content ?? '' }] : [],
      );
    });
    if (entries.get(gist.id) !== entry) return;
    index.put({ id: gist.id, title: entry.head.title, tags: entry.head.tags, files });
    entry.indexed = settled(gist.updated_at, readAt);
    account(gist.id);
  }

  /** Reads one note's text; a note that is gone is dropped. */
  async function read(id: string): Promise<void> {
    const readAt = now();
    try {
      await put(await gists.get(id, stop.signal), readAt);
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== 'not_found') throw error;
      drop(id);
    }
  }

  /** Takes in a text that was read together with others, unless it is not the one that the list tells of. */
  function take({ id, updated_at: updatedAt, files }: GistText, readAt: number): void {
    const entry = entries.get(id);
    const whole = files.length === entry?.files && files.every((file) => file.whole);
    if (!entry || !whole || entry.head.updated_at !== updatedAt) return;
    const visible = files.map(({ name, text }) => ({
      name: stripInvisible(name),
      text: searchableText(text ?? ''),
    }));
    index.put({ id, title: entry.head.title, tags: entry.head.tags, files: visible });
    entry.indexed = settled(updatedAt, readAt);
    account(id);
  }

  const fill = createFill({
    gists,
    log,
    now,
    signal: stop.signal,
    take,
    read,
    pending: () => Array.from(lacking, (id) => ({ id, nodeId: entries.get(id)?.nodeId })),
  });

  return {
    index,
    isNote,
    heads: () => Array.from(entries.values(), ({ head }) => head),
    head: (id) => entries.get(id)?.head,
    progress: () => ({ done: entries.size - unread.size, total: entries.size }),
    listed: () => readAll !== -Infinity,
    drop,
    put: (gist) => put(gist),

    refreshAll: (maxAgeMs, signal) =>
      shared('all', signal, async () => {
        if (now() - readAll < maxAgeMs) return;
        const at = now();
        const listed = await listing.all(stop.signal);
        for (const gist of listed) see(gist);
        // Absence alone is no proof: pages shift while they are read, and lists lag. Asking for the note is.
        const ids = new Set(listed.map(({ id }) => id));
        await eachOf(
          [...entries.keys()].filter((id) => !ids.has(id)),
          WIDTH,
          read,
        );
        readAll = at;
        readRecent = at;
      }),

    refreshRecent: (maxAgeMs, signal) =>
      shared('recent', signal, async () => {
        if (now() - readRecent < maxAgeMs) return;
        const at = now();
        for (const gist of await listing.since(newest, stop.signal)) see(gist);
        readRecent = at;
      }),

    fill: () => shared('fill', stop.signal, fill),

    async close() {
      stop.abort(new ToolError('cancelled', 'The server is stopping.'));
      await shared.settled();
    },
  };
}

/** What to remember of a text: its `updated_at`, or '' when it may have changed since within the same second. */
function settled(updatedAt: string, readAt: number): string {
  return readAt - Date.parse(updatedAt) < UNSETTLED_MS ? '' : updatedAt;
}
