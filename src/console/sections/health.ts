import { html } from 'hono/html';

import { badge, duration, type Markup } from '../format.ts';
import { empty, table } from '../table.ts';
import type { View } from '../view.ts';
import { readingFault } from './reading-fault.ts';

const COLUMNS = [
  { title: 'Check' },
  { title: 'State' },
  { title: 'Detail', kind: 'wide' as const },
  { title: 'Took', kind: 'number' as const },
];

export function health({ health: reading }: View): Markup {
  if (!reading.value) return reading.error ? readingFault(reading) : empty('Checking…');
  const rows = reading.value.checks.map(({ name, ok, detail, latencyMs }) => [
    html`<span class="main">${name}</span>`,
    badge(ok ? 'good' : 'bad', ok ? 'OK' : 'Failing'),
    html`<span class="text">${detail}</span>`,
    html`${duration(latencyMs)}`,
  ]);
  return html`${readingFault(reading)}${table('health', 'Health checks', COLUMNS, rows)}`;
}
