import { ways } from './directories-ways.ts';
import { writings } from './directories-writings.ts';
import { detours } from './evasions-detour.ts';
import { spellings } from './evasions-spelling.ts';

/** A class of commands that mean what a list forbids, and what the list makes of each. */
export interface Evasion {
  what: string;
  caught: readonly string[];
  /** Known to pass: published beside what is caught. */
  missed: readonly string[];
}

/** What the vectors are spellings of. `zap` and `zapfs` are harmless programs that leave a mark. */
export const BLOCKED = ['zap -rf', 'zapfs', ':(){ :|:& };:'];
/** The directory that the vectors try to leave, and where they start. */
export const ALLOWED = '/srv/app';

export const blocklistEvasions = [...spellings, ...detours];
export const directoryEvasions = [...ways, ...writings];
