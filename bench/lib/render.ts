import { readdirSync, readFileSync } from 'node:fs';

import type { Result } from './bench.ts';
import { chart, readable } from './chart.ts';

export const RESULTS = 'bench/results';
const PAGE = 'docs/performance.md';

/**
 * docs/performance.md and its charts, by path, from the results that are kept. The page's prose is written by hand;
 * what stands between `<!-- bench NAME -->` and `<!-- end NAME -->` is made here.
 * @throws when a result has no such place on the page
 */
export function renderPerformance(): Record<string, string> {
  const documents: Record<string, string> = {};
  let page = readFileSync(PAGE, 'utf8');
  for (const result of readResults()) {
    const { name, title, series } = result;
    if (series.length > 0) documents[`docs/images/bench-${name}.svg`] = chart(title, series);
    const place = new RegExp(`(<!-- bench ${name} -->\n)[^]*?(<!-- end ${name} -->)`);
    if (!place.test(page)) throw new Error(`${PAGE} has no place for ${name}`);
    page = page.replace(place, (_, begin: string, end: string) => `${begin}\n${section(result)}\n${end}`);
  }
  documents[PAGE] = page;
  return documents;
}

function readResults(): Result[] {
  return readdirSync(RESULTS)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => JSON.parse(readFileSync(`${RESULTS}/${file}`, 'utf8')) as Result);
}

function section({ name, title, machine, series, targets, notes }: Result): string {
  const parts: string[] = [];
  if (series.length > 0) parts.push(`![${title}](images/bench-${name}.svg)`);
  if (targets.length > 0) {
    const rows = targets.map(({ text, value, unit, bound, comparison, met }) => [
      text,
      `${comparison} ${readable(bound)} ${unit}`,
      `${readable(value)} ${unit}`,
      met ? 'yes' : '**no**',
    ]);
    parts.push(table(['target', 'bound', 'measured', 'met'], rows));
  }
  for (const { title: heading, figures } of series) {
    const rows = figures.map(({ label, unit, median, low, high }) => [
      label,
      `${readable(median)} ${unit}`,
      `${readable(low)} to ${readable(high)}`,
    ]);
    parts.push(table([heading, 'median', 'lowest to highest'], rows));
  }
  if (notes.length > 0) parts.push(notes.map((note) => `- ${note}`).join('\n'));
  parts.push(`Measured on: ${machine}.`);
  return `${parts.join('\n\n')}\n`;
}

/** As the formatter would write it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`;
  const [first = [], ...others] = cells;
  return [
    line(first),
    `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`,
    ...others.map(line),
  ].join('\n');
}
