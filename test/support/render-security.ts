import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

import type { Row } from '../prove/row.ts';
import { FIGURES } from '../prove/table.ts';

type KeptRow = Omit<Row, 'failures'> & { failures: number };

/** docs/security.md with the tables of the last whole runs of `npm run prove` in their places. */
export function renderSecurity(): string {
  const files = globSync(`${FIGURES}/*.json`).sort();
  const rows = files.flatMap((file) =>
    (JSON.parse(readFileSync(file, 'utf8')) as KeptRow[]).map((row) => ({
      ...row,
      name: basename(file, '.json'),
    })),
  );
  const figures = [
    '| part | what must be true | tries | failures | measured | `--only` |',
    '| --- | --- | ---: | ---: | --- | --- |',
    ...rows.map(
      ({ part, guarantee, tries, failures, figures: measured = '', name }) =>
        `| ${part} | ${cell(guarantee)} | ${tries.toLocaleString('en')} | ${failures} | ${cell(measured)} | \`${name}\` |`,
    ),
  ];
  const missed = rows
    .filter(({ missed: list = [] }) => list.length > 0)
    .flatMap(({ part, guarantee, missed: list = [] }) => [
      `**${part}**: ${guarantee}. Not caught:`,
      '',
      '```text',
      ...list.map((text) => text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')),
      '```',
      '',
    ]);
  return [
    { name: 'figures', lines: figures },
    { name: 'missed', lines: missed },
  ].reduce(
    (page, { name, lines }) =>
      page.replace(
        new RegExp(`(<!-- ${name}:begin -->\n)[^]*(<!-- ${name}:end -->)`),
        (_, begin: string, end: string) => `${begin}\n${lines.join('\n').trimEnd()}\n\n${end}`,
      ),
    readFileSync('docs/security.md', 'utf8'),
  );
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
