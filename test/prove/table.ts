import { mkdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

import type { Reporter, TestModule } from 'vitest/node';

import type { Row } from './row.ts';

/** Where each file's rows of its last whole run are kept, as `<name>.json`; docs/security.md shows them. */
export const FIGURES = 'docs/figures/security';

/** Prints the table of guarantees after a run and keeps its figures. */
export default class ProofTable implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows: Row[] = [];
    mkdirSync(FIGURES, { recursive: true });
    for (const module of modules) {
      const own = [...module.children.allTests()].flatMap((test) => test.meta().row ?? []);
      rows.push(...own);
      const kept = own.map((row) => ({ ...row, failures: row.failures.length }));
      const path = `${FIGURES}/${basename(module.moduleId, '.test.ts')}.json`;
      if (own.length > 0) writeFileSync(path, `${JSON.stringify(kept, null, 2)}\n`);
    }
    process.stdout.write(`\n${render(rows)}\n`);
  }
}

function render(rows: readonly Row[]): string {
  const lines = [['part', 'guarantee', 'tries', 'failures', 'figures']];
  for (const { part, guarantee, tries, failures, figures, missed } of rows) {
    const notes = [figures, missed && `${missed.length} published misses`].filter(Boolean).join('; ');
    lines.push([part, guarantee, String(tries), String(failures.length), notes]);
  }
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
