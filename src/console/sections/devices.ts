import { html } from 'hono/html';

import type { Device } from '../../mesh/device.ts';
import { badge, clock, day, type Markup, NOTHING } from '../format.ts';
import { empty, table } from '../table.ts';
import type { View } from '../view.ts';
import { readingFault } from './reading-fault.ts';

const COLUMNS = [
  { title: 'Device', kind: 'wide' as const },
  { title: 'State' },
  { title: 'Address' },
  { title: 'System' },
  { title: 'SSH' },
];
/** A key that ends sooner is worth a word. */
const SOON_MS = 14 * 24 * 60 * 60 * 1000;

export function devices({ devices: reading }: View): Markup {
  if (!reading.value) return reading.error ? readingFault(reading) : empty('Asking the mesh network…');
  const sorted = reading.value.toSorted(
    (a, b) => Number(b.online) - Number(a.online) || a.name.localeCompare(b.name),
  );
  return html`${readingFault(reading)}
  ${sorted.length === 0 ? empty('The mesh network has no devices.') : table('devices', 'Devices', COLUMNS, sorted.map(row))}`;
}

function row(device: Device): Markup[] {
  const { name, dns_name, online, last_seen, addresses, os, client_version, ssh_enabled, tags } = device;
  return [
    html`<span class="main">${name}</span>
      ${dns_name === null || dns_name === name ? NOTHING : html`<span class="sub">${dns_name}</span>`}
      ${tags.length === 0 ? NOTHING : html`<span class="sub">${tags.join(', ')}</span>`}`,
    html`${badge(online ? 'good' : 'plain', online ? 'Online' : 'Offline')}
    ${online || last_seen === null ? NOTHING : html`<span class="sub whole">since ${clock(last_seen)}</span>`}`,
    html`<code class="address">${addresses[0] ?? '–'}</code>`,
    html`${os ?? '–'} ${client_version === null ? NOTHING : html`<span class="sub">${client_version}</span>`}
    ${device.update_available ? badge('warn', 'Update') : NOTHING} ${expiry(device.key_expires)}`,
    html`${ssh_enabled === undefined ? '–' : ssh_enabled ? 'on' : 'off'}`,
  ];
}

function expiry(expires: string | null): Markup {
  if (expires === null) return NOTHING;
  const left = new Date(expires).getTime() - Date.now();
  if (!(left < SOON_MS)) return NOTHING;
  return html`<span class="sub warn-text">${left < 0 ? 'key ended' : 'key ends'} ${day(expires)}</span>`;
}
