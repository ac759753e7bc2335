import { ALLOW, type Decision } from '../../core/decision.ts';
import { ToolError } from '../../core/errors.ts';

export const ACTIONS = ['list', 'search', 'get', 'create', 'update', 'delete'] as const;
export type Action = (typeof ACTIONS)[number];

export interface SnippetInput {
  action: Action;
  id?: string | undefined;
  title?: string | undefined;
  tags?: string[] | undefined;
  files?: Record<string, string | null> | undefined;
  query?: string | undefined;
  expected_version?: string | undefined;
  file?: string | undefined;
  offset?: number | undefined;
  limit: number;
}

type Field = Exclude<keyof SnippetInput, 'action' | 'limit'>;

/** What each action needs, and what it takes besides. Anything else would be ignored in silence, so it is refused. */
const FIELDS: Record<Action, { needs: readonly Field[]; takes: readonly Field[] }> = {
  list: { needs: [], takes: ['tags'] },
  search: { needs: ['query'], takes: ['tags'] },
  get: { needs: ['id'], takes: ['file', 'offset'] },
  create: { needs: ['title', 'files'], takes: ['tags'] },
  update: { needs: ['id'], takes: ['title', 'tags', 'files', 'expected_version'] },
  delete: { needs: ['id'], takes: ['expected_version'] },
};

const LONGEST_TITLE = 200;
const LONGEST_QUERY = 256;
const MOST_TAGS = 20;
const LONGEST_TAG = 50;
const MOST_FILES = 300;

/** Refuses calls that lack something or that the code host would refuse or misunderstand. */
export function decideSnippet(input: SnippetInput): Decision {
  const fault = fieldFault(input) ?? labelFault(input) ?? fileFault(input);
  return fault === undefined
    ? ALLOW
    : { verdict: 'refuse', rule: 'arguments', error: new ToolError('invalid_input', fault) };
}

/** An argument that says nothing; assistants like to send those along. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === '') return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function fieldFault(input: SnippetInput): string | undefined {
  const { action } = input;
  const { needs, takes } = FIELDS[action];
  const missing = needs.filter((name) => isEmpty(input[name]));
  if (missing.length > 0) return `${action} needs ${missing.join(' and ')}.`;
  const given = (Object.keys(input) as (keyof SnippetInput)[]).filter((name) => !isEmpty(input[name]));
  const known = ['action', 'limit', ...needs, ...takes];
  const useless = given.filter((name) => !known.includes(name));
  if (useless.length > 0) {
    return `${action} does nothing with ${useless.join(' and ')}; it takes ${known.slice(2).join(', ')}.`;
  }
  // An empty list of tags takes all tags away, so it is a change.
  if (action === 'update' && input.tags === undefined && isEmpty(input.title) && isEmpty(input.files)) {
    return 'update needs title, tags or files: there is nothing to change.';
  }
  return undefined;
}

function labelFault({ id, title, tags = [], query }: SnippetInput): string | undefined {
  if (!isEmpty(id) && !/^[\da-zA-Z]{1,64}$/.test(id ?? '')) {
    return `"${id?.slice(0, 64)}" is not the id of a note: letters and digits, as list and search give it.`;
  }
  if (title !== undefined && !isEmpty(title)) {
    if (title.length > LONGEST_TITLE) return `title is longer than ${LONGEST_TITLE} characters.`;
    if (title.trim() === '' || /\p{Cc}/u.test(title)) return 'title must be one line that is not blank.';
  }
  if (query !== undefined && query.length > LONGEST_QUERY)
    return `query is longer than ${LONGEST_QUERY} characters.`;
  if (tags.length > MOST_TAGS) return `There are more than ${MOST_TAGS} tags.`;
  const bad = tags.find((tag) => tag.trim() === '' || tag.length > LONGEST_TAG || /[,[\]\p{Cc}]/u.test(tag));
  if (bad !== undefined)
    return `"${bad.slice(0, LONGEST_TAG)}" cannot be a tag: at most ${LONGEST_TAG} characters, no comma, no bracket.`;
  return undefined;
}

function fileFault({ action, file, offset, files = {} }: SnippetInput): string | undefined {
  const entries = Object.entries(files);
  if (entries.length > MOST_FILES) return `files has more than ${MOST_FILES} entries.`;
  if (offset !== undefined && isEmpty(file)) return 'offset needs file, the name of the file to read on.';
  for (const [name, content] of entries) {
    const shown = `"${name.slice(0, 64)}"`;
    if (name.trim() !== name || name === '' || name.length > 255 || /[/\\\p{Cc}]/u.test(name)) {
      return `${shown} cannot be a file name: no slash, no line break, no blank at its ends, at most 255 characters.`;
    }
    if (/^gistfile\d+/i.test(name))
      return `${shown} cannot be a file name: the code host uses such names itself.`;
    if (content === null && action === 'create') return `${shown} is null; create needs its content.`;
    if (content !== null && content.trim() === '') {
      return `${shown} is blank, which the code host refuses; null deletes a file.`;
    }
  }
  return undefined;
}
