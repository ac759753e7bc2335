/**
 * `npm run prove [-- --only NAME]`: tries every guarantee of docs/security.md on the real stack and prints a table:
 * guarantee, tries, failures. NAME is a file of test/prove without `.test.ts`. `--soak-minutes N` sets how long the
 * soak lasts (60). Ends with the status of the test runner.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { only: { type: 'string' }, 'soak-minutes': { type: 'string' } } });
const { only } = values;
if (only !== undefined && !existsSync(`test/prove/${only}.test.ts`)) {
  const names = readdirSync('test/prove').flatMap((file) => file.match(/^(.+)\.test\.ts$/)?.[1] ?? []);
  process.stderr.write(`There is no ${only}. There are ${names.sort().join(', ')}.\n`);
  process.exit(1);
}

const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project',
    'container',
    '--reporter=default',
    '--reporter=./test/prove/table.ts',
    only === undefined ? 'test/prove/' : `test/prove/${only}.test.ts`,
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      PROVE: 'whole',
      ...(values['soak-minutes'] !== undefined && { SOAK_MINUTES: values['soak-minutes'] }),
    },
  },
);
process.exit(status ?? 1);
