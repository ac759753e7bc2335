/** Shorter values are not redacted: they would blank out ordinary text, and warn at start instead. */
const SHORTEST = 6;

/**
 * Makes the function that takes every secret of the configuration out of a text. Besides the value itself it
 * knows the forms in which secrets travel: percent-encoded, JSON-escaped, base64, and base64 as HTTP Basic.
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
  const pattern = new RegExp(
    forms.map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'),
    'g',
  );
  return (text) => text.replace(pattern, (form) => `[redacted ${names.get(form)}]`);
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
