/** Shorter values are not redacted: they would blank out ordinary text, and warn at start instead. */
const SHORTEST = 6;
/** Fewer characters of a beginning stay: kinds of tokens begin alike, and ordinary text names those beginnings. */
const SHORTEST_BEGINNING = 16;
/** A pattern that may end after each character is as deep as it is long. */
const DEEPEST = 256;

/**
 * Makes the function that takes every secret of the configuration out of a text. Besides the value itself it
 * knows the forms in which secrets travel: percent-encoded, JSON-escaped, base64, and base64 as HTTP Basic. The first
 * half of a form is enough: what was cut to a length before it came here may end within a secret.
 * @param secrets values by the name of the variable that holds each; the name is what remains in the text
 */
export function createRedactor(secrets: ReadonlyMap<string, string>): (text: string) => string {
  const names = new Map<string, string>();
  for (const [name, value] of secrets) {
    if (value.length < SHORTEST) continue;
    const forms = [
      value,
      encodeURIComponent(value),
      JSON.stringify(value).slice(1, -1),
      Buffer.from(value).toString('base64'),
      Buffer.from(value).toString('base64url'),
      Buffer.from(`${value}:`).toString('base64'),
      Buffer.from(`:${value}`).toString('base64'),
    ];
    for (const form of forms) names.set(form, name);
  }
  if (names.size === 0) return (text) => text;
  // Longest first: a secret that contains another one must go as a whole.
  const forms = [...names.keys()].sort((a, b) => b.length - a.length);
  // Whole ones first: the beginning of one secret may be another.
  const pattern = new RegExp([...forms.map(escape), ...forms.map(beginningOf)].join('|'), 'g');
  const nameOf = (part: string) =>
    names.get(part) ?? names.get(forms.find((form) => form.startsWith(part)) ?? '');
  // Most text holds no secret, and to look for the few beginnings takes a fraction of what the pattern takes.
  const beginnings = [...new Set(forms.map((form) => form.slice(0, leastOf(form))))];
  return (text) =>
    beginnings.some((beginning) => text.includes(beginning))
      ? text.replace(pattern, (part) => `[redacted ${nameOf(part)}]`)
      : text;
}

/** How many characters of a form give it away. */
const leastOf = ({ length }: string): number =>
  Math.min(length, Math.max(SHORTEST_BEGINNING, Math.ceil(length / 2)));

const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Matches half of a form or more, from its beginning: `secre(?:t(?:s)?)?`. */
function beginningOf(form: string): string {
  const least = leastOf(form);
  const deepest = Math.min(form.length, least + DEEPEST);
  let rest = deepest < form.length ? `(?:${escape(form.slice(deepest))})?` : '';
  for (let at = deepest - 1; at >= least; at--) rest = `(?:${escape(form.charAt(at))}${rest})?`;
  return escape(form.slice(0, least)) + rest;
}

/** A copy of a JSON value with every string in it redacted, keys included. */
export function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((entry) => redactValue(entry, redact));
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [redact(key), redactValue(entry, redact)]),
  );
}

/** An object with every string in it redacted, keys included, and that as JSON. */
export function redactObject(
  value: Record<string, unknown>,
  redact: (text: string) => string,
): { value: Record<string, unknown>; json: string } {
  const json = JSON.stringify(value);
  // Without a backslash in it, every string of the value stands in its JSON as it is, and one look serves for all.
  if (!json.includes('\\') && redact(json) === json) return { value, json };
  const redacted = redactValue(value, redact) as Record<string, unknown>;
  return { value: redacted, json: JSON.stringify(redacted) };
}
