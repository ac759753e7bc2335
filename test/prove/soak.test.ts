import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

import { healthy, stack } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { type Tally, load } from './lib/soak-load.ts';
import { type Sample, lastingRss, leaks, sample, slope } from './lib/soak-sample.ts';
import { prove, whole } from './row.ts';

// Elsewhere each closed page left a process behind, each timeout a command, and each of both an open file; none of
// that shows in a test that ends after a second.

const MINUTE = 60_000;
const minutes = Number(process.env['SOAK_MINUTES'] ?? 60);
const CALLERS = 4;
/** Leftovers of a whole run that are not closed by then are taken for leaks: an SSH connection is kept for 5 min. */
const IDLE_SECONDS = 480;
const WARM_UP_MS = 5_000;
/** Memory must not grow faster, whatever the scatter: at 20 MB an hour the server fills its limit in two days. */
const MOST_MB_AN_HOUR = 20;

prove('stack', 'Under load for long, no process, file, session or memory is left behind', async () => {
  const tally: Tally = { calls: 0, byTool: {}, failures: [] };
  if (whole) await restartServer('BROWSER_IDLE_SECONDS=60');
  try {
    return whole ? await soak(tally) : await shortSoak(tally);
  } finally {
    if (whole) await restartServer();
  }
});

/** One round of two callers, and the same look at what is left. */
async function shortSoak(tally: Tally) {
  const round = { everyMs: 0, leaveSessions: false, rounds: 1 };
  // Connections that are made once and kept for minutes are there before the start.
  await load({ ...round, callers: 1 }, tally);
  const start = await sample();
  await load({ ...round, callers: 2 }, tally);
  const end = await rest(start, false, 30);
  const failures = [...tally.failures, ...leaks(start, end, false)];
  return { tries: tally.calls, failures, figures: `${tally.calls} calls` };
}

async function soak(tally: Tally) {
  const options = { callers: CALLERS, everyMs: 1_000, leaveSessions: true };
  // What is made once and kept is there before the start. Not connections to devices: they take minutes to go again.
  const kept = ['pages', 'status', 'fetches', 'notes', 'code'];
  const once = { callers: 1, everyMs: 0, leaveSessions: false, only: kept };
  await load({ ...once, until: Date.now() + WARM_UP_MS }, tally);
  const start = await idle();
  report('start', start, tally);

  const begun = Date.now();
  const samples: Sample[] = [];
  const sampling = (async () => {
    for (let minute = 1; minute <= minutes; minute += 1) {
      await pause(Math.max(0, begun + minute * MINUTE - Date.now()));
      const taken = await sample();
      samples.push(taken);
      report(`minute ${minute}`, taken, tally);
    }
  })();
  await Promise.all([load({ ...options, until: begun + minutes * MINUTE }, tally), sampling]);

  const end = await rest(start, true, IDLE_SECONDS);
  report('end', end, tally);
  const growth = slopes(start, samples);
  const failures = [...tally.failures, ...leaks(start, end, true)];
  for (const [service, { slope: mb, error }] of Object.entries(growth)) {
    if (mb - 2 * error > MOST_MB_AN_HOUR)
      failures.push(`${service}: memory grows ${mb.toFixed(1)} MB an hour`);
  }
  return { tries: tally.calls, failures, figures: figures(start, end, samples, growth, tally) };
}

/** The state once all connections are closed that are closed when they are idle. */
async function idle(): Promise<Sample> {
  let now = await sample();
  await until(
    'all is idle',
    async () => {
      now = await sample();
      // To Chromium, and that by which the gauges are asked for.
      return (now.services['server']?.connections ?? 0) <= 2;
    },
    IDLE_SECONDS,
  );
  return now;
}

/** The state once nothing is left beyond the start, or that of the last look. */
async function rest(start: Sample, sockets: boolean, seconds: number): Promise<Sample> {
  let now = await sample();
  await until(
    'nothing is left',
    async () => leaks(start, (now = await sample()), sockets).length === 0,
    seconds,
  ).catch(() => {});
  return now;
}

const MEASURED = ['server', 'caddy', 'chromium', 'egress'];

/** How resident memory of what lasts grows in the second half, in MB an hour. */
function slopes(start: Sample, samples: readonly Sample[]): Record<string, { slope: number; error: number }> {
  const half = samples.slice(Math.floor(samples.length / 2));
  const hours = ({ time }: Sample) => time / (60 * MINUTE);
  return Object.fromEntries(
    MEASURED.map((service) => [
      service,
      slope(half.map((taken) => [hours(taken), lastingRss(service, start, taken)])),
    ]),
  );
}

function figures(
  start: Sample,
  end: Sample,
  samples: readonly Sample[],
  growth: ReturnType<typeof slopes>,
  { calls, byTool }: Tally,
): string {
  const count = (taken: Sample, service: string) => {
    const { processes, files = 0, sockets = 0 } = taken.services[service] ?? {};
    const running = Object.values(processes ?? {}).reduce((sum, number) => sum + number, 0);
    return `${running} processes, ${files + sockets} open files`;
  };
  const parts = MEASURED.map((service) => {
    const { slope: mb = 0, error = 0 } = growth[service] ?? {};
    const peak = Math.max(...samples.map((taken) => lastingRss(service, start, taken)));
    const memory = `RSS slope ${mb.toFixed(1)} ± ${error.toFixed(1)} MB/h, peak ${peak.toFixed(0)} MB`;
    return `${service}: ${memory}, ${count(start, service)} before, ${count(end, service)} after`;
  });
  const tools = Object.entries(byTool).map(([tool, times]) => `${tool} ${times}`);
  return [`${minutes} min, ${CALLERS} callers, ${calls} calls (${tools.join(', ')})`, ...parts].join('; ');
}

function report(what: string, taken: Sample, { calls, failures }: Tally): void {
  const holdings = Object.entries(taken.services).map(
    ([service, { processes, rss, cgroupMb, files, sockets, connections }]) => {
      const names = Object.entries(processes).map(([name, count]) => `${name}×${count}`);
      const total = [...rss.values()].reduce((sum, mb) => sum + mb, 0);
      const memory = `rss ${total.toFixed(1)} cgroup ${cgroupMb.toFixed(1)}`;
      return `${service}: ${memory} files ${files} sockets ${sockets} connected ${connections} ${names.join(' ')}`;
    },
  );
  const gauges = Object.entries(taken.gauges).map(([name, value]) => `${name} ${value}`);
  const heading = `${new Date(taken.time).toISOString()} ${what}: ${calls} calls, ${failures.length} failures`;
  process.stdout.write(`${[heading, gauges.join(', '), ...holdings].join('; ')}\n`);
  for (const failure of failures.slice(-1)) process.stdout.write(`  last failure: ${failure}\n`);
}

/** Starts the server anew with these settings on top of the stack's own, or with the stack's own. */
async function restartServer(...settings: string[]): Promise<void> {
  const own = stack.composeEnv['ENV_FILE'] ?? '';
  const envFile = settings.length === 0 ? own : `${own}.soak`;
  if (settings.length > 0) {
    writeFileSync(envFile, `${readFileSync(own, 'utf8')}${settings.join('\n')}\n`, { mode: 0o600 });
  }
  execFileSync('docker', ['compose', 'up', '--detach', '--no-deps', '--no-build', '--wait', 'server'], {
    env: { ...process.env, ...stack.composeEnv, ENV_FILE: envFile },
    stdio: 'ignore',
  });
  await until('the server is back', () => healthy('server'));
}
