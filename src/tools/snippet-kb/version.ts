import { createHash } from 'node:crypto';

import type { Gist } from '../../codehost/gists.ts';

/** The newest commit of the gist's files; '' where the code host tells none. */
export function headOf({ history }: Gist): string {
  return history[0]?.version ?? '';
}

/**
 * A note's version: it changes with every change of files, title or tags and with nothing else. The commit alone
 * would miss a new title, which makes no commit; `updated_at` has seconds, too coarse for two quick edits; an ETag
 * changes with comments and forks as well.
 */
export function versionOf(gist: Gist): string {
  const label = createHash('sha256')
    .update(gist.description ?? '')
    .digest('hex')
    .slice(0, 8);
  return `${headOf(gist) || gist.updated_at}-${label}`;
}
