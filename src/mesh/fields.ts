import * as z from 'zod';

/**
 * How the fields of a management API are read. These APIs leave fields out, set them to null or to an empty
 * text, and add new ones with each release: one odd field must not hide a whole network, so each falls back
 * on its own. Only the frame of an answer (a list, under its name) is demanded.
 */

/** One device of an answer, its fields not looked at yet. A schema of each field would take 50 ms for 10,000 devices. */
export const entry = z.custom<Fields>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'expected an object',
);

export type Fields = Readonly<Record<string, unknown>>;

/** A text; null where it is missing, empty or something else. */
export function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The name of something that is told of as an object; null where there is none. */
export function nameOf(value: unknown): string | null {
  return text((value as { name?: unknown } | null | undefined)?.name);
}

/** True or false; null where the API doesn't tell. */
export function flag(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** A list of texts; entries of another type are left out. */
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => text(item) !== null) : [];
}

/** What these APIs send, but for the zone: to make a date and write it anew takes ten times as long. */
const USUAL = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z$/;

/** A moment as ISO 8601 in UTC, to the second; null where there is none. */
export function instant(value: unknown): string | null {
  // Go's zero time, year 1, is how these APIs write "never".
  if (typeof value !== 'string' || value.startsWith('0001-') || Number.isNaN(Date.parse(value))) return null;
  const [, usual] = USUAL.exec(value) ?? [];
  return usual === undefined ? new Date(value).toISOString().replace(/\.\d+Z$/, 'Z') : `${usual}Z`;
}

/** A DNS name without its trailing dot. */
export function withoutTrailingDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** `web-1` of `web-1.example.ts.net`; null for null. */
export function firstLabel(dnsName: string | null): string | null {
  return dnsName?.split('.', 1)[0] || null;
}
