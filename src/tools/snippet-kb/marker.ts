/**
 * How a gist is marked as a note: its description ends in `[snippet-kb]`, with the tags inside:
 * `Backing up the NAS [snippet-kb: backup, nas]`. A description is all that a list of gists tells besides file
 * names; it can be read and edited by hand, and adding the marker to a secret gist makes it a note.
 */
export interface Label {
  title: string;
  tags: string[];
}

const MARKER = /\s*\[snippet-kb(?::([^[\]]*))?\]/gi;

/** Title and tags of a marked description; undefined for one without the marker. */
export function readLabel(description: string): Label | undefined {
  // The last one counts: a title may mention the marker, and what was typed after it by hand belongs to the title.
  const last = [...description.matchAll(MARKER)].at(-1);
  if (!last) return undefined;
  const title = description.slice(0, last.index) + description.slice(last.index + last[0].length);
  const tags = (last[1] ?? '').split(',').map((tag) => tag.trim());
  return { title: title.trim(), tags: [...new Set(tags.filter((tag) => tag !== ''))] };
}

/** The description of a note. Tags hold no comma and no closing bracket, which policy.ts sees to. */
export function writeLabel({ title, tags }: Label): string {
  const inside = tags.length === 0 ? '' : `: ${[...new Set(tags)].join(', ')}`;
  return `${title.trim()} [snippet-kb${inside}]`.trim();
}
