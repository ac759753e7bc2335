import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** A file is a text, or bytes in base64. */
export type StandinFile = string | { base64: string };

/** A gist to begin with. */
export interface StandinGist {
  /** Made up otherwise. */
  id?: string;
  owner: string;
  description: string;
  public?: boolean;
  files: Record<string, StandinFile>;
  updated_at?: string;
}

/** A gist as it is kept. */
export interface StoredGist extends Required<Omit<StandinGist, 'public'>> {
  public: boolean;
  created_at: string;
  /** Newest first. */
  history: { version: string; committed_at: string }[];
}

export interface GistStore {
  /** Newest first, by creation. */
  all(): StoredGist[];
  get(id: string): StoredGist | undefined;
  create(gist: Pick<StoredGist, 'owner' | 'description' | 'public' | 'files'>, at: string): StoredGist;
  /** Replaces files or description. Only a change of files makes a commit. */
  update(gist: StoredGist, change: { description?: string; files?: StoredGist['files'] }, at: string): void;
  remove(id: string): void;
}

const BEGINNING = '2026-01-15T09:30:00Z';

/** Opens the store; with `file`, every change is on disk before it is answered. */
export function openGists(seed: readonly StandinGist[], file?: string): GistStore {
  // By chance: counted, they would begin anew with each start, and a new gist take the place of one that was kept.
  const sha = () => randomBytes(20).toString('hex');
  const begin = (gist: StandinGist): StoredGist => {
    const updated = gist.updated_at ?? BEGINNING;
    return {
      id: sha().slice(0, 32),
      ...gist,
      public: gist.public ?? false,
      updated_at: updated,
      created_at: updated,
      history: [{ version: sha(), committed_at: updated }],
    };
  };
  const kept =
    file !== undefined && existsSync(file)
      ? (JSON.parse(readFileSync(file, 'utf8')) as StoredGist[])
      : seed.map(begin).toReversed();
  const gists = new Map(kept.map((gist) => [gist.id, gist]));

  function save(): void {
    if (file === undefined) return;
    // Written beside and renamed, so that a crash leaves the old file or the new one.
    writeFileSync(`${file}.new`, JSON.stringify([...gists.values()]));
    renameSync(`${file}.new`, file);
  }

  return {
    all: () => [...gists.values()].toReversed(),
    get: (id) => gists.get(id),
    create(parts, at) {
      const gist: StoredGist = {
        id: sha().slice(0, 32),
        ...parts,
        created_at: at,
        updated_at: at,
        history: [{ version: sha(), committed_at: at }],
      };
      gists.set(gist.id, gist);
      save();
      return gist;
    },
    update(gist, { description, files }, at) {
      if (files && JSON.stringify(files) !== JSON.stringify(gist.files)) {
        gist.files = files;
        gist.history.unshift({ version: sha(), committed_at: at });
      }
      if (description !== undefined) gist.description = description;
      gist.updated_at = at;
      save();
    },
    remove(id) {
      gists.delete(id);
      save();
    },
  };
}
