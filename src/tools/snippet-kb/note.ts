import type { Gist, GistFile, GistSummary, Gists } from '../../codehost/gists.ts';
import { ToolError } from '../../core/errors.ts';
import { stripInvisible } from '../../core/visible-text.ts';
import { readLabel } from './marker.ts';
import { versionOf } from './version.ts';

/** A note as the tool answers it. */
export interface Note {
  id: string;
  title: string;
  tags: string[];
  /** Known once the note was read or indexed; needed for `expected_version`. */
  version?: string;
  updated_at: string;
  url: string;
  /** With search: where the words stand. */
  excerpt?: string;
  /** With get, create and update: text by file name. */
  files?: Record<string, string>;
  /** What `files` lacks, and why, by file name: a file written back from a cut text would lose the rest. */
  not_shown?: Record<string, string>;
}

/** About what assistants take in one answer before they cut it themselves. */
export const MOST_CHARACTERS = 100_000;
const MEGABYTE = 1_000_000;
/** What the code host's `raw_url` serves at most. */
const LARGEST_FILE = 10 * 1024 * 1024;

/** Head of a note, from a gist with or without its content. A gist without the marker is named by its files. */
export function noteHead(gist: GistSummary): Note {
  const description = gist.description ?? '';
  const label = readLabel(description) ?? { title: description.trim(), tags: [] };
  const [firstFile = gist.id] = Object.keys(gist.files);
  return {
    id: gist.id,
    title: stripInvisible(label.title || firstFile),
    tags: label.tags.map(stripInvisible),
    updated_at: gist.updated_at,
    url: gist.html_url,
  };
}

export interface ReadOptions {
  /** Only this file. */
  file?: string | undefined;
  /** Character of it to begin at. */
  offset?: number | undefined;
  signal: AbortSignal;
}

/**
 * A note with its text: truncated files read whole, at most 100,000 characters in all, no binary files, no
 * invisible characters; what is left out is named in `not_shown`.
 * @throws ToolError `not_found` for a file that is not there
 */
export async function readNote(gists: Gists, gist: Gist, options: ReadOptions): Promise<Note> {
  const { file: only, offset = 0, signal } = options;
  const all = Object.values(gist.files).filter((file) => file !== null);
  const wanted = only === undefined ? all : all.filter(({ filename }) => filename === only);
  // Small files first, so that one large one does not hide them.
  wanted.sort((a, b) => a.size - b.size);
  if (only !== undefined && wanted.length === 0) {
    throw new ToolError('not_found', `Note ${gist.id} has no file "${only.slice(0, 64)}".`, {
      hint: `Its files: ${nameList(gist)}.`,
    });
  }
  const shown: [string, string][] = [];
  const left: [string, string][] = [];
  let room = MOST_CHARACTERS;
  for (const file of wanted) {
    const name = stripInvisible(file.filename);
    const absent = reasonNotText(file, gist);
    if (absent !== undefined) {
      left.push([name, absent]);
      continue;
    }
    const text = await wholeText(gists, file, signal);
    if (looksBinary(text)) {
      left.push([name, `binary, ${file.size} bytes`]);
      continue;
    }
    if (room === 0) {
      left.push([name, `${text.length} characters; read it with file`]);
      continue;
    }
    const part = text.slice(offset, offset + room);
    const end = offset + part.length;
    room -= part.length;
    const visible = stripInvisible(part);
    shown.push([name, visible]);
    const remarks = [
      part.length < text.length &&
        `characters ${offset} to ${end} of ${text.length} are shown${end < text.length ? '; read on with file and offset' : ''}`,
      visible.length < part.length && `${part.length - visible.length} invisible characters are left out`,
    ].filter((remark) => remark !== false);
    if (remarks.length > 0) left.push([name, remarks.join('; ')]);
  }
  if (gist.truncated) {
    left.push([
      '…',
      `files after the first ${all.length}: only git has them, at ${gist.git_pull_url ?? gist.html_url}`,
    ]);
  }
  return {
    ...noteHead(gist),
    version: versionOf(gist),
    files: Object.fromEntries(shown),
    ...(left.length > 0 && { not_shown: Object.fromEntries(left) }),
  };
}

/** The text to search in, with what the answer itself carries; only an empty truncated file is fetched for it. */
export async function searchableFiles(
  gists: Gists,
  gist: Gist,
  signal: AbortSignal,
): Promise<{ name: string; text: string }[]> {
  const files: { name: string; text: string }[] = [];
  for (const file of Object.values(gist.files)) {
    if (!file) continue;
    const readable = reasonNotText(file, gist) === undefined;
    const text = readable ? file.content || (await wholeText(gists, file, signal)) : '';
    files.push({ name: stripInvisible(file.filename), text: searchableText(text) });
  }
  return files;
}

/** Text without invisible characters; nothing of what is no text. */
export function searchableText(text: string): string {
  return looksBinary(text) ? '' : stripInvisible(text);
}

/** The names of a gist's files, for a hint. */
export function nameList({ files }: GistSummary): string {
  const names = Object.keys(files);
  const more = names.length > 20 ? ` and ${names.length - 20} more` : '';
  return stripInvisible(names.slice(0, 20).join(', ')) + more;
}

function reasonNotText(file: GistFile, { git_pull_url: git, html_url: page }: Gist): string | undefined {
  const size = `${(file.size / MEGABYTE).toFixed(1)} MB`;
  if (file.encoding === 'base64' || /^(?:image|audio|video|font)\/(?!svg)/.test(file.type ?? '')) {
    return `binary (${file.type ?? 'unknown type'}), ${file.size} bytes`;
  }
  if (file.truncated && file.size > LARGEST_FILE)
    return `${size}: above 10 MB only git has it, at ${git ?? page}`;
  return undefined;
}

/** NUL and replacement characters in numbers: bytes that were never text. */
function looksBinary(text: string): boolean {
  const sample = text.slice(0, 8000);
  return sample.includes('\0') || (sample.match(/\ufffd/g)?.length ?? 0) > sample.length / 20;
}

async function wholeText(gists: Gists, file: GistFile, signal: AbortSignal): Promise<string> {
  if (!file.truncated || !file.raw_url) return file.content ?? '';
  return (await gists.raw(file.raw_url, LARGEST_FILE, signal)).toString('utf8');
}
