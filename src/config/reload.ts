import { isDeepStrictEqual } from 'node:util';

import { allSettings, type Config } from './schema.ts';

export interface Changes {
  /** Names of the settings whose new value is in force now. */
  applied: string[];
  /** Names of the settings that changed too, and need a restart. */
  pending: string[];
}

/**
 * Puts the reloadable settings of `fresh` in force. The groups of `config` are changed in place: the tools hold
 * them, and read a policy's lists afresh with each call.
 */
export function applyReload(config: Config, fresh: Config): Changes {
  const changes: Changes = { applied: [], pending: [] };
  for (const [group, name, setting] of allSettings()) {
    const current = config[group] as Record<string, unknown>;
    const next = (fresh[group] as Record<string, unknown>)[name];
    if (isDeepStrictEqual(current[name], next)) continue;
    if (setting.reloadable) {
      current[name] = next;
      changes.applied.push(setting.env);
    } else {
      changes.pending.push(setting.env);
    }
  }
  return changes;
}
