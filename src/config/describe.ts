import type { SettingView } from '../console/parts.ts';
import type { SettingSources } from './load.ts';
import { allSettings, groupTitles, type Config } from './schema.ts';

/**
 * The configuration in force, to be looked at: no secret's value is in it.
 */
export function describeSettings(config: Config, sources: Readonly<SettingSources>): SettingView[] {
  return allSettings().map(([group, name, setting]) => {
    const value = (config[group] as Record<string, unknown>)[name];
    const text = textOf(value);
    return {
      group,
      title: groupTitles[group],
      env: setting.env,
      meaning: setting.meaning,
      value: setting.secret ? undefined : text,
      set: text !== '',
      secret: setting.secret,
      source: sources.get(setting.env) ?? 'default',
    };
  });
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'object') return Object.keys(value).length === 0 ? '' : JSON.stringify(value);
  return String(value as string | number | boolean);
}
