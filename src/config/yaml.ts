import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * Parses the YAML file into a map from dotted key to value.
 * @param known the dotted keys there are; any other is a fault
 * @param faults receives one sentence a fault, with line and column where the text does not parse
 */
export function parseYaml(
  text: string,
  fileName: string,
  known: readonly string[],
  faults: string[],
): Map<string, unknown> {
  // Here and not above: most starts have no such file.
  const { parseDocument } = require('yaml') as typeof import('yaml');
  const values = new Map<string, unknown>();
  const document = parseDocument(text, { prettyErrors: true });
  for (const error of document.errors) {
    const at = error.linePos?.[0];
    const where = at ? ` line ${at.line}, column ${at.col}` : '';
    faults.push(`${fileName}:${where} ${error.message.split('\n')[0] ?? error.code}`);
  }
  if (document.errors.length > 0) return values;

  const walk = (node: unknown, path: string): void => {
    if (path !== '' && known.includes(path)) {
      values.set(path, node);
      return;
    }
    const isSection = path === '' || known.some((key) => key.startsWith(`${path}.`));
    if (!isSection) {
      faults.push(`${fileName}: unknown key ${path}; the known ones are ${known.join(', ')}`);
    } else if (node === null || node === undefined) {
      // An empty file, or a section with every line commented out.
    } else if (typeof node !== 'object' || Array.isArray(node)) {
      faults.push(`${fileName}: ${path === '' ? 'the file' : path}: expected a mapping`);
    } else {
      for (const [key, value] of Object.entries(node)) walk(value, path === '' ? key : `${path}.${key}`);
    }
  };
  walk(document.toJS(), '');
  return values;
}
