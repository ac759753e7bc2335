import { html } from 'hono/html';

/** Markup whose untrusted parts are escaped: made by the `html` tag and by nothing else. */
export type Markup = ReturnType<typeof html>;

export const NOTHING: Markup = html``;

/** `14:05:09`, with the day before it where that is another; the script turns it into local time. */
export function clock(iso: string, now = new Date()): Markup {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return html`${iso.slice(0, 32)}`;
  const text = date.toISOString();
  const sameDay = text.slice(0, 10) === now.toISOString().slice(0, 10);
  const shown = sameDay ? text.slice(11, 19) : `${text.slice(5, 10)} ${text.slice(11, 16)}`;
  return html`<time datetime="${text}" data-clock>${shown}</time>`;
}

/** `2026-11-20`, for what lies days away. */
export function day(iso: string): Markup {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return html`${iso.slice(0, 32)}`;
  const text = date.toISOString();
  return html`<time datetime="${text}">${text.slice(0, 10)}</time>`;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `340 ms`, `1.2 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`. */
export function duration(ms: number): string {
  if (ms < 1) return '<1 ms';
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return pair(ms, MINUTE, 'min', SECOND, 's');
  if (ms < DAY) return pair(ms, HOUR, 'h', MINUTE, 'min');
  return pair(ms, DAY, 'd', HOUR, 'h');
}

/** As `duration`, in whole minutes: what stands on a page that is looked at again and again should rest. */
export function minutes(ms: number): string {
  return ms < MINUTE ? 'under a minute' : duration(Math.floor(ms / MINUTE) * MINUTE);
}

function pair(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

export function bytes(count: number): string {
  if (count < 1_024) return `${count} B`;
  if (count < 1_024 ** 2) return `${(count / 1_024).toFixed(1)} KiB`;
  return `${(count / 1_024 ** 2).toFixed(1)} MiB`;
}

/** The count with its noun. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Cut in the middle of nothing: the beginning tells most. */
export function clip(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'plain';

/** A state, told by its word and by a colour. */
export function badge(tone: Tone, text: string): Markup {
  return html`<span class="badge ${tone}">${text}</span>`;
}
