/**
 * `npm run bench [-- NAME [ARGUMENTS]]`: builds the server, runs each bench in a process of its own, prints its
 * figures, keeps them in `bench/results/NAME.json` and writes docs/performance.md anew. A target that is missed is
 * told and does not fail the run; a bench that breaks does.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

import { type Bench, createReport, type Result } from './lib/bench.ts';
import { readable } from './lib/chart.ts';
import { renderPerformance, RESULTS, table } from './lib/render.ts';

const NAMES = readdirSync('bench')
  .flatMap((file) => file.match(/^(.+)\.ts$/)?.[1] ?? [])
  .filter((name) => name !== 'run')
  .sort();
const ONE = '--one';

const print = (text: string) => process.stdout.write(`${text}\n`);

function machine(): string {
  const [first] = cpus();
  const memory = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown'}, ${memory} GB, Linux, Node ${process.versions.node}`;
}

async function runOne(name: string, args: readonly string[]): Promise<void> {
  const { bench } = (await import(`./${name}.ts`)) as { bench: Bench };
  print(`\n${name}: ${bench.title}`);
  if (bench.peers === true) installPeers();
  const { report, result } = createReport(bench, machine(), print);
  await bench.run(report, args);
  print(`\n${tables(result)}`);
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(`${RESULTS}/${name}.json`, `${JSON.stringify(result, null, 2)}\n`);
  for (const [path, text] of Object.entries(renderPerformance())) writeFileSync(path, text);
}

function tables({ series, targets, notes }: Result): string {
  const figures = series.map(({ title, figures: bars }) =>
    table(
      [title, 'median', 'low', 'high'],
      bars.map(({ label, unit, median, low, high }) => [
        label,
        `${readable(median)} ${unit}`,
        readable(low),
        readable(high),
      ]),
    ),
  );
  const goals = table(
    ['target', 'bound', 'measured', 'met'],
    targets.map(({ text, comparison, bound, unit, value, met }) => [
      text,
      `${comparison} ${readable(bound)} ${unit}`,
      `${readable(value)} ${unit}`,
      met ? 'yes' : 'NO',
    ]),
  );
  return [...figures, ...(targets.length > 0 ? [goals] : []), ...notes].join('\n\n');
}

/** The servers to compare with stay out of the product's dependencies. */
function installPeers(): void {
  const lock = readFileSync('bench/peers/package-lock.json', 'utf8');
  const mark = 'bench/peers/node_modules/.installed';
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lock) return;
  const options = ['ci', '--prefix', 'bench/peers', '--no-audit', '--no-fund'];
  if (spawnSync('npm', options, { stdio: 'inherit' }).status !== 0)
    throw new Error('npm ci of the peers failed');
  writeFileSync(mark, lock);
}

const args = process.argv.slice(2);
if (args[0] === ONE) {
  await runOne(args[1] ?? '', args.slice(2));
} else {
  const [name, ...rest] = args;
  if (name !== undefined && !NAMES.includes(name)) {
    process.stderr.write(`There is no ${name}. There are ${NAMES.join(', ')}.\n`);
    process.exit(1);
  }
  if (spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' }).status !== 0) process.exit(1);
  let broken = 0;
  for (const each of name === undefined ? NAMES : [name]) {
    const { status } = spawnSync(process.execPath, ['bench/run.ts', ONE, each, ...rest], {
      stdio: 'inherit',
    });
    if (status !== 0) broken += 1;
  }
  process.exit(broken === 0 ? 0 : 1);
}
