import type { Gist, GistChange, Gists } from '../../codehost/gists.ts';
import { ToolError } from '../../core/errors.ts';
import { nameList } from './note.ts';
import { readLabel, writeLabel } from './marker.ts';
import { headOf, versionOf } from './version.ts';

export interface Change {
  title?: string | undefined;
  tags?: readonly string[] | undefined;
  files?: Record<string, string | null> | undefined;
}

/** @throws ToolError `conflict` with the current version when the note is not the one that was read */
export function checkVersion(gist: Gist, expected: string | undefined): void {
  const current = versionOf(gist);
  if (expected === undefined || expected === current) return;
  throw new ToolError('conflict', `Note ${gist.id} was changed since version ${expected.slice(0, 64)}.`, {
    hint: 'Get the note, bring your change into it, and update with its current version.',
    facts: { current_version: current },
  });
}

/** What to send to make a change of a note. @throws ToolError `invalid_input` for a change that cannot be */
export function toGistChange(gist: Gist, { title, tags, files }: Change): GistChange {
  const description = gist.description ?? '';
  const label = readLabel(description);
  const change: GistChange = {};
  if (title !== undefined || tags !== undefined) {
    const wanted = { title: title ?? label?.title ?? description, tags: [...(tags ?? label?.tags ?? [])] };
    // With SNIPPET_KB_ALL a gist that is no note stays one, unless it is given tags, which only notes have.
    change.description = label || wanted.tags.length > 0 ? writeLabel(wanted) : wanted.title;
  }
  if (files) change.files = toFiles(gist, files);
  return change;
}

function toFiles(gist: Gist, files: Record<string, string | null>): NonNullable<GistChange['files']> {
  const has = (name: string) => Object.hasOwn(gist.files, name);
  const entries = Object.entries(files);
  const unknown = entries.find(([name, content]) => content === null && !has(name));
  if (unknown && !gist.truncated) {
    throw new ToolError('invalid_input', `Note ${gist.id} has no file "${unknown[0]}" to delete.`, {
      hint: `Its files: ${nameList(gist)}.`,
    });
  }
  const remaining = Object.keys(gist.files).filter(
    (name) => files[name] !== null || !Object.hasOwn(files, name),
  );
  if (remaining.length === 0 && entries.every(([, content]) => content === null)) {
    throw new ToolError(
      'invalid_input',
      `That would leave note ${gist.id} without a file, which cannot be.`,
      {
        hint: 'Use the action delete to delete the note.',
      },
    );
  }
  return toContents(files);
}

/** File names to what the API takes. */
export function toContents(files: Record<string, string | null>): NonNullable<GistChange['files']> {
  return Object.fromEntries(
    Object.entries(files).map(([name, content]) => [name, content === null ? null : { content }]),
  );
}

/**
 * Sends a change of a note that was read just before. The API takes no condition on a write, so for the length of
 * one request another writer can come between; the commit below ours shows that afterwards. Files are then as we
 * sent them, and the other's are in the note's history.
 * @throws ToolError `conflict` when that happened, with both versions
 */
export async function sendChange(
  gists: Gists,
  before: Gist,
  change: GistChange,
  signal: AbortSignal,
): Promise<Gist> {
  const after = await gists.update(before.id, change, signal);
  const head = headOf(before);
  const below = change.files ? after.history[1]?.version : undefined;
  if (head === '' || headOf(after) === head || below === head) return after;
  // Without files nothing of the other's can have been overwritten.
  if (!change.files) return after;
  throw new ToolError(
    'conflict',
    `Note ${before.id} was changed elsewhere in the same moment; your change was written on top of that one.`,
    {
      hint: `Nothing is lost: the history at ${before.html_url}/revisions has both. Get the note and check it.`,
      facts: { current_version: versionOf(after), overwritten_version: below ?? null },
    },
  );
}
