import { afterAll, beforeAll } from 'vitest';

import { BOMBS } from '../support/browser-bombs.ts';
import { type Lab, startLab } from '../support/browser-lab.ts';
import { until } from '../support/until.ts';
import { prove, tries, whole } from './row.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab?.stop());

const inChromium = (script: string) => lab.docker('exec', lab.container('chromium'), 'bash', '-c', script);
const lines = async (service: string, part: string) => {
  const list = await lab.docker('top', lab.container(service), '-o', 'pid,stat,rss,args');
  return list
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, stat, , ...args]) => args.join(' ').includes(part) && !stat?.startsWith('Z'));
};
const count = async (service: string, part: string) => (await lines(service, part)).length;
/** Megabytes of memory that processes of a container hold. */
const megabytes = async (service: string, part: string) =>
  (await lines(service, part)).reduce((sum, [, , rss]) => sum + Number(rss), 0) / 1024;
/** Tabs of all sessions, as the browser itself counts them. */
const pages = async () => {
  const answer = await fetch(`http://${await lab.address('chromium', 'browser')}:9222/json/list`);
  return ((await answer.json()) as { type: string }[]).filter(({ type }) => type === 'page').length;
};
/** Megabytes that Chromium has on its disk, which is memory here. */
const disk = async () => Number(await inChromium('du -sm /tmp 2>/dev/null | cut -f1'));
const orphans = async () =>
  (await lab.docker('top', lab.container('server'), '-o', 'pid,stat,args'))
    .split('\n')
    .filter((line) => / Z/.test(line)).length;

/** Ends processes as the kernel does when memory is short. */
const kill = (service: string, pattern: string) =>
  lab
    .docker(
      'exec',
      '--user',
      '0',
      lab.container(service),
      'bash',
      '-c',
      `for p in /proc/[0-9]*; do
         if tr '\\0' ' ' <"$p/cmdline" 2>/dev/null | grep -q -- '${pattern}'; then kill -9 "\${p#/proc/}"; fi
       done`,
    )
    .catch(() => {});

/** Errors that tell what came of a page which would not be opened, or would not answer. */
const NAMED = ['timeout', 'page_crashed', 'upstream_error', 'too_large', 'conflict', 'not_found'];
const LIMIT_SECONDS = 4;
/** What the tool allows itself beyond the limit of a call. */
const AROUND_SECONDS = 15;

/** What takes the browser's one processor from others, as long as it is open. */
const STARVING = ['popups', 'workers'];
const RESPONSES = ['file', 'huge-file', 'huge-html', 'gzip', 'redirects', 'refresh'];

prove(
  'browser',
  'A page that would use up the browser ends its calls in time, with a reason, and is gone with its session',
  async () => {
    const all = [...Object.keys(BOMBS), ...RESPONSES];
    const names = whole ? all : ['alerts-1000', 'downloads'];
    const failures: string[] = [];
    const missed: string[] = [];
    await lab.open('/', 'other');
    const tabs = await pages();
    let [slowest, largest] = [0, 0];
    for (const name of names) {
      const timed = async (what: string, args: Record<string, unknown>) => {
        const started = performance.now();
        const answer = await lab.call({ ...args, session: 'bomb', timeout_seconds: LIMIT_SECONDS });
        const seconds = (performance.now() - started) / 1000;
        slowest = Math.max(slowest, seconds);
        if (seconds > LIMIT_SECONDS + AROUND_SECONDS)
          failures.push(`${name}: ${what} took ${Math.round(seconds)} s`);
        const code = answer.value.error?.code;
        if (code !== undefined && !NAMED.includes(code)) failures.push(`${name}: ${what} is ${code}`);
      };
      await timed('open', { action: 'open', url: `http://pages/bomb/${name}` });
      const beside = await lab.open('/second', 'other');
      // Hundreds of busy threads or new tabs are fair to each other, and to nobody else.
      if (STARVING.includes(name) && beside.value.error?.code === 'timeout') {
        missed.push(`${name}: other sessions time out until that page is closed`);
      } else if (beside.isError) {
        failures.push(`${name}: another session is told ${beside.value.error?.code}`);
      }
      await timed('snapshot', { action: 'snapshot' });
      await timed('text', { action: 'text', dialog: 'accept' });
      largest = Math.max(largest, await disk());
      await lab.call({ action: 'close', session: 'bomb' });
      await until('its tabs are closed', async () => (await pages()) <= tabs, 30).catch(async () =>
        failures.push(`${name}: ${await pages()} tabs, from ${tabs}`),
      );
      const { value } = await lab.open('/', 'after');
      if (value.error) failures.push(`${name}: the next session is told ${value.error.code}`);
      await lab.call({ action: 'close', session: 'after' });
    }
    // Chromium keeps one or two at the ready.
    const renderers = await count('chromium', '--type=renderer');
    if (renderers > 4) failures.push(`${renderers} renderers are left`);
    if (largest > 256) failures.push(`${largest} MB on disk`);
    await lab.call({ action: 'close', session: 'other' });
    await until(
      'no process of a session is left',
      async () => (await count('server', 'agent-browser')) === 0,
      20,
    ).catch(async () => failures.push(`${await count('server', 'agent-browser')} processes are left`));
    return {
      tries: names.length,
      failures,
      figures: `slowest call ${slowest.toFixed(1)} s at a limit of ${LIMIT_SECONDS} s; at most ${largest} MB on disk`,
    };
  },
);

const KINDS = {
  browser: () => kill('chromium', '^[^ ]*headless-shell --remote-debugging-port'),
  renderers: () => kill('chromium', '^[^ ]*headless-shell --type=renderer'),
  utilities: () => kill('chromium', '^[^ ]*headless-shell --type=\\(utility\\|gpu\\)'),
  'the tool’s daemons': () => kill('server', 'agent-browser'),
};

prove(
  'browser',
  'Chromium and the tool’s daemons killed: the next call opens its page, and nothing is left over',
  async () => {
    const failures: string[] = [];
    const slowest: string[] = [];
    let tried = 0;
    for (const [kind, end] of Object.entries(KINDS)) {
      const seconds: number[] = [];
      for (let round = 0; round < tries(20, 1); round++) {
        tried++;
        await lab.open('/', 'killed');
        await end();
        const started = performance.now();
        const { value } = await lab.open('/second', 'killed');
        seconds.push((performance.now() - started) / 1000);
        if (value.error) failures.push(`${kind}, round ${round}: ${value.error.code}`);
      }
      slowest.push(`${kind} ${Math.max(...seconds).toFixed(1)} s`);
    }
    await lab.call({ action: 'close', session: 'killed' });
    await until('no daemon is left', async () => (await count('server', 'agent-browser')) === 0, 20).catch(
      async () => failures.push(`${await count('server', 'agent-browser')} processes are left`),
    );
    if ((await orphans()) > 0) failures.push(`${await orphans()} zombies are left`);
    return { tries: tried, failures, figures: `slowest: ${slowest.join(', ')}` };
  },
);

prove('browser', 'Navigations leave nothing behind: neither memory nor processes nor tabs grow', async () => {
  const rounds = tries(500, 10);
  const failures: string[] = [];
  await lab.open('/', 'walk');
  const warm = Math.floor(rounds / 5);
  const measure = async () => ({
    daemon: await megabytes('server', 'agent-browser'),
    server: await megabytes('server', 'dist/main.js'),
    chromium: await megabytes('chromium', 'headless-shell'),
    renderers: await count('chromium', '--type=renderer'),
    processes: await count('server', ''),
  });
  let before = await measure();
  for (let round = 0; round < rounds; round++) {
    if (round === warm) before = await measure();
    const { value } = await lab.open(round % 2 === 0 ? '/' : '/form', 'walk');
    if (value.error) failures.push(`navigation ${round}: ${value.error.code}`);
  }
  const after = await measure();
  if (after.renderers > before.renderers + 1)
    failures.push(`${after.renderers} renderers, from ${before.renderers}`);
  if (after.processes > before.processes + 1)
    failures.push(`${after.processes} processes, from ${before.processes}`);
  for (const [part, most] of [
    ['daemon', 16],
    ['server', 64],
    ['chromium', 128],
  ] as const) {
    const grown = after[part] - before[part];
    if (grown > most) failures.push(`${part} grew by ${Math.round(grown)} MB`);
  }
  await lab.call({ action: 'close', session: 'walk' });
  await until('no daemon is left', async () => (await count('server', 'agent-browser')) === 0, 20).catch(() =>
    failures.push('a daemon is left'),
  );
  const slope = (part: 'daemon' | 'server' | 'chromium') =>
    `${part} ${before[part].toFixed(0)} → ${after[part].toFixed(0)} MB`;
  return {
    tries: rounds,
    failures,
    figures: `from navigation ${warm} on: ${slope('daemon')}, ${slope('server')}, ${slope('chromium')}`,
  };
});
