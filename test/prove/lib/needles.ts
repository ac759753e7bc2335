/** A form of a secret that must stand nowhere, and how a report names it. */
export interface Needle {
  /** `MCP_SECRET as hex`; never the value. */
  name: string;
  text: string;
}

/** The part of base64 that stays the same whatever stands before and after the value. */
function insideBase64(value: string, before: number): string {
  const encoded = Buffer.from('x'.repeat(before) + value).toString('base64');
  const from = Math.ceil((before * 8) / 6);
  return encoded.slice(from, Math.floor(((before + Buffer.byteLength(value)) * 8) / 6));
}

const swapCase = (text: string): string =>
  text.replaceAll(/[a-z]/gi, (letter) =>
    letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase(),
  );

/**
 * The forms in which a secret travels, and most of it where an end is cut off: a log that shows all but the last
 * characters tells the secret too.
 */
export function needlesOf(secrets: Record<string, string>): Needle[] {
  return Object.entries(secrets).flatMap(([name, value]) => {
    const bytes = [...Buffer.from(value)].map((byte) => byte.toString(16).padStart(2, '0'));
    const most = Math.ceil(value.length * 0.8);
    const forms: [string, string][] = [
      ['itself', value],
      ['in the other case', swapCase(value)],
      ['but for its end', value.slice(0, most)],
      ['but for its beginning', value.slice(-most)],
      ['backwards', value.split('').toReversed().join('')],
      ['as hex', bytes.join('')],
      ['as HEX', bytes.join('').toUpperCase()],
      ['percent-encoded', bytes.map((byte) => `%${byte}`).join('')],
      ['PERCENT-encoded', bytes.map((byte) => `%${byte.toUpperCase()}`).join('')],
      ['as a list of bytes', [...Buffer.from(value)].join(',')],
      ...[0, 1, 2].flatMap((before): [string, string][] => {
        const encoded = insideBase64(value, before);
        return [
          [`in base64 (${before})`, encoded],
          [`in base64url (${before})`, encoded.replaceAll('+', '-').replaceAll('/', '_')],
        ];
      }),
    ];
    const seen = new Map(forms.map(([form, text]) => [text, `${name} ${form}`]));
    return [...seen].map(([text, form]) => ({ name: form, text }));
  });
}

/** The names of the needles that stand in a text. */
export const found = (needles: readonly Needle[], text: string): string[] =>
  needles.filter((needle) => text.includes(needle.text)).map(({ name }) => name);
