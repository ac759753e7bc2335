import { auditSettings } from '../audit/settings.ts';
import { codeHostSettings } from '../codehost/settings.ts';
import type { Setting, SettingsOf } from '../core/setting.ts';
import { limitSettings } from '../gate/settings.ts';
import { serverSettings } from '../http/settings.ts';
import { meshSettings } from '../mesh/settings.ts';
import { browserSettings } from '../tools/browser/settings.ts';
import { fetchSettings } from '../tools/fetch-external/settings.ts';
import { snippetSettings } from '../tools/snippet-kb/settings.ts';
import { sshSettings } from '../tools/ssh-exec/settings.ts';

/** Every setting there is, in the order the documents print them. Each group is declared by the part it belongs to. */
export const settingGroups = {
  server: serverSettings,
  limits: limitSettings,
  mesh: meshSettings,
  codeHost: codeHostSettings,
  ssh: sshSettings,
  fetch: fetchSettings,
  snippets: snippetSettings,
  browser: browserSettings,
  audit: auditSettings,
};

type Groups = typeof settingGroups;

/** What people read as the heading of each group. */
export const groupTitles: Record<keyof Groups, string> = {
  server: 'Server',
  limits: 'Limits',
  mesh: 'Mesh network',
  codeHost: 'Code host',
  ssh: 'ssh_exec',
  fetch: 'fetch_external',
  snippets: 'snippet_kb',
  browser: 'browser',
  audit: 'Audit log',
};

export type Config = { [Name in keyof Groups]: SettingsOf<Groups[Name]> };

/** `[group, name, setting]` for each setting. */
export function allSettings(): [keyof Groups, string, Setting<unknown>][] {
  return Object.entries(settingGroups).flatMap(([group, settings]) =>
    Object.entries(settings).map(([name, setting]): [keyof Groups, string, Setting<unknown>] => [
      group as keyof Groups,
      name,
      setting as Setting<unknown>,
    ]),
  );
}
