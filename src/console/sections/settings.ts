import { html } from 'hono/html';

import { badge, type Markup } from '../format.ts';
import type { SettingView } from '../parts.ts';
import { table } from '../table.ts';
import type { View } from '../view.ts';

const COLUMNS = [{ title: 'Setting' }, { title: 'Value', kind: 'wide' as const }, { title: 'From' }];
const SOURCES = { default: 'default', environment: 'environment', file: 'YAML file' };
/** The configuration in force, by part; secrets only as "set" or "not set". */
export function settings({ settings: all }: View): Markup {
  const groups = [...new Set(all.map(({ group }) => group))];
  return html`${groups.map((group) => {
    const members = all.filter((setting) => setting.group === group);
    const changed = members.filter(({ source }) => source !== 'default').length;
    const title = members[0]?.title ?? group;
    return html`<details id="settings-${group}" class="group">
      <summary id="group-${group}">
        <span class="main">${title}</span>
        <span class="sub">${members.length} settings, ${changed} set by you</span>
      </summary>
      ${table('settings', `Settings: ${title}`, COLUMNS, members.map(row))}
    </details>`;
  })}`;
}

function row({ env, meaning, value, set, secret, source }: SettingView): Markup[] {
  const shown = secret
    ? badge('plain', set ? 'set, hidden' : 'not set')
    : set
      ? html`<code>${value ?? ''}</code>`
      : html`<span class="sub">empty</span>`;
  return [
    html`<code class="main">${env}</code>`,
    html`${shown} <span class="sub">${meaning}</span>`,
    html`${SOURCES[source]}`,
  ];
}
