import { html } from 'hono/html';

import { badge, bytes, clip, clock, duration, type Markup, NOTHING, plural, type Tone } from '../format.ts';
import { empty, table } from '../table.ts';
import type { TrailEntry, TrailState } from '../trail.ts';
import type { AuditQuery, View } from '../view.ts';

const COLUMNS = [
  { title: 'Time' },
  { title: 'Tool' },
  { title: 'Call', kind: 'wide' as const },
  { title: 'Outcome' },
  { title: 'Took', kind: 'number' as const },
];
const PER_PAGE = 25;
const LONGEST_SUMMARY = 160;

const STATES: Record<TrailState, { tone: Tone; word: string }> = {
  running: { tone: 'busy', word: 'Running' },
  ok: { tone: 'good', word: 'OK' },
  blocked: { tone: 'warn', word: 'Blocked' },
  error: { tone: 'bad', word: 'Failed' },
  lost: { tone: 'bad', word: 'No outcome' },
  note: { tone: 'plain', word: 'Note' },
};

/** The form stands outside the part that is renewed: what is typed into it must stay. */
export function auditFilter({ trail, tools }: View): Markup {
  if (!trail) return NOTHING;
  const { query } = trail;
  const option = (value: string, text: string, chosen: string) =>
    html`<option value="${value}" ${value === chosen ? html`selected` : NOTHING}>${text}</option>`;
  return html`<form
    class="filter"
    method="get"
    action="/console#audit"
    role="search"
    aria-label="Audit trail"
  >
    <label
      >Tool
      <select name="tool">
        ${option('', 'All', query.tool)}${tools.map((tool) => option(tool, tool, query.tool))}
      </select></label
    >
    <label
      >Outcome
      <select name="outcome">
        ${option('', 'All', query.state)}${Object.entries(STATES).map(([state, { word }]) =>
          option(state, word, query.state),
        )}
      </select></label
    >
    <label class="grow">Text <input type="search" name="q" value="${query.text}" maxlength="200" /></label>
    <button>Filter</button>
    ${query.tool || query.state || query.text ? html`<a class="clear" href="/console#audit">Clear</a>` : NOTHING}
  </form>`;
}

export function audit({ trail }: View): Markup {
  if (!trail) return empty('The audit log is off (AUDIT_ENABLED=false): no call is recorded.');
  const { entries, query } = trail;
  if (entries.length === 0) {
    return empty(
      query.tool || query.state || query.text ? 'Nothing recent matches this filter.' : 'No call yet.',
    );
  }
  const pages = Math.ceil(entries.length / PER_PAGE);
  const page = Math.min(query.page, pages);
  const shown = entries.slice((page - 1) * PER_PAGE, page * PER_PAGE);
  return html`${table('trail', 'Audit trail, newest first', COLUMNS, shown.map(row))}
    <nav class="pages" aria-label="Pages of the audit trail">
      ${page > 1 ? html`<a rel="prev" href="${link(query, page - 1)}">Newer</a>` : NOTHING}
      <span>${plural(entries.length, 'entry', 'entries')}, page ${page} of ${pages}</span>
      ${page < pages ? html`<a rel="next" href="${link(query, page + 1)}">Older</a>` : NOTHING}
    </nav>`;
}

function link({ tool, state, text }: AuditQuery, page: number): string {
  const query = new URLSearchParams({ tool, outcome: state, q: text, page: String(page) });
  for (const [name, value] of [...query])
    if (value === '' || (name === 'page' && page === 1)) query.delete(name);
  return `/console?${query.toString()}#audit`;
}

function row(entry: TrailEntry): Markup[] {
  const { tone, word } = STATES[entry.state];
  return [
    clock(entry.time),
    html`<span class="main">${entry.tool === '' ? 'server' : entry.tool}</span>`,
    html`<details id="entry-${entry.id}">
      <summary id="call-${entry.id}">${summary(entry)}</summary>
      <dl>
        ${fact('Client', entry.client)} ${fact('Call', entry.id)} ${fact('Rule', entry.rule)}
        ${fact('Job', entry.job)} ${fact('Job ended', entry.jobEnd)}
        ${fact('Result', entry.bytes === null ? '' : bytes(entry.bytes))}
        ${
          entry.arguments === ''
            ? NOTHING
            : html`<div>
                <dt>Arguments</dt>
                <dd><pre>${pretty(entry.arguments)}</pre></dd>
              </div>`
        }
      </dl>
    </details>`,
    html`${badge(tone, word)} ${entry.dryRun ? badge('warn', 'Dry run') : NOTHING}
    ${entry.errorCode === '' ? NOTHING : html`<span class="sub">${entry.errorCode}</span>`}
    ${entry.job === '' ? NOTHING : html`<span class="sub">job ${entry.job}</span>`}
    ${entry.rule === '' ? NOTHING : html`<span class="sub">${clip(entry.rule, 60)}</span>`}`,
    html`${entry.durationMs === null ? '–' : duration(entry.durationMs)}`,
  ];
}

function fact(name: string, value: string): Markup {
  return value === ''
    ? NOTHING
    : html`<div>
        <dt>${name}</dt>
        <dd>${value}</dd>
      </div>`;
}

/** The arguments on one line, the way they are read: `device: web-1, command: uptime`. */
function summary({ message, arguments: args }: TrailEntry): string {
  if (message !== '') return clip(message, LONGEST_SUMMARY);
  const parsed = parse(args);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return clip(args, LONGEST_SUMMARY) || 'no arguments';
  }
  const parts = Object.entries(parsed).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return clip(parts.join(', '), LONGEST_SUMMARY) || 'no arguments';
}

function pretty(args: string): string {
  const parsed = parse(args);
  return parsed === undefined ? args : JSON.stringify(parsed, null, 2);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Cut, and so no JSON any more.
    return undefined;
  }
}
