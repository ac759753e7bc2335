import * as z from 'zod';

/**
 * How the fields of a management API are read. These APIs leave fields out, set them to null or to an empty
 * text, and add new ones with each release: one odd field must not hide a whole network, so each falls back
 * on its own. Only the frame of an answer (a list, under its name) is demanded.
 */

/** A text; null where it is missing, empty or something else. */
export const text = z.string().min(1).nullable().catch(null);

/** True or false; null where the API doesn't tell. */
export const flag = z.boolean().nullable().catch(null);

/** A list of texts; entries of another type are left out. */
export const texts = z
  .array(z.unknown())
  .catch([])
  .transform((entries) =>
    entries.filter((entry) => typeof entry === 'string').filter((entry) => entry !== ''),
  );

/** A moment as ISO 8601 in UTC, to the second; null where there is none. */
export const instant = z.string().nullable().catch(null).transform(toInstant);

function toInstant(value: string | null): string | null {
  // Go's zero time, year 1, is how these APIs write "never".
  if (value === null || value.startsWith('0001-')) return null;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? null : date.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** A DNS name without its trailing dot. */
export function withoutTrailingDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** `web-1` of `web-1.example.ts.net`; null for null. */
export function firstLabel(dnsName: string | null): string | null {
  return dnsName?.split('.', 1)[0] || null;
}
