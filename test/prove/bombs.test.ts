// A few kilobytes that become gigabytes, a body without an end, and one that comes a byte at a time: the ways to
// exhaust whoever reads to the end before he looks at the size.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

import { afterAll, beforeAll } from 'vitest';

import { ToolError } from '../../src/core/errors.ts';
import { type FetchTool, fetchTool } from '../support/fetch-tool.ts';
import { until } from '../support/until.ts';
import { prove, tries } from './row.ts';

const MIB = 1024 * 1024;
const UNPACKED = tries(1024, 512);
/** The most that the tool gives of a body. */
const CAP = 10_485_760;
/** What a bomb would take at once is twice that; the rest is what earlier answers left to be collected. */
const MOST_FOR_BOMBS = (UNPACKED / 2) * MIB;
/** A body without an end is cut at a mebibyte. */
const MOST_FOR_ENDLESS = 192 * MIB;
const BOMBS = [
  ...['/gzip', '/x-gzip', '/deflate', '/rawdeflate', '/br', '/zstd'],
  ...['/twice', '/thrice', '/four-times', '/members', '/wrong'],
];

let site: ChildProcess;
let port: number;
let smallest: number;
let tool: FetchTool;

beforeAll(async () => {
  site = fork('test/prove/lib/bomb-site.ts', [String(UNPACKED)]);
  [{ port, smallest }] = (await once(site, 'message')) as [{ port: number; smallest: number }];
  tool = fetchTool({ PROXY_ALLOWED_DOMAINS: '127.0.0.1' });
}, 170_000);
afterAll(async () => {
  await tool.close();
  site.disconnect();
});

/** The most memory that the process held while something was done, beyond what it held before, in bytes. */
async function peakOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const look = () => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  const timer = setInterval(look, 5);
  await work();
  clearInterval(timer);
  look();
  return peak - before;
}

/** The fault of one call, if it gave more than was asked for or failed by another name than those. */
async function fault(
  path: string,
  args: Record<string, unknown>,
  codes: string[],
): Promise<string | undefined> {
  const about = `${path} ${JSON.stringify(args)}`;
  try {
    const page = await tool.call({
      url: `http://127.0.0.1:${port}${path}`,
      timeout_seconds: 60,
      ...args,
    });
    const most = Number(args['max_bytes'] ?? 65_536);
    const held = args['format'] === 'base64' ? Buffer.from(page.body, 'base64').length : page.body.length;
    const read = page.bytes - Number(args['offset'] ?? 0);
    if (codes.length > 0) return `${about}: no failure`;
    return held > most || read > most ? `${about}: ${held} bytes` : undefined;
  } catch (error) {
    const code = error instanceof ToolError ? error.code : String(error);
    return codes.includes(code) ? undefined : `${about}: ${code}`;
  }
}

const WAYS: Record<string, unknown>[] = [
  {},
  { max_bytes: CAP, format: 'base64' },
  { max_bytes: 1 },
  { max_bytes: CAP },
  { max_bytes: 65_536, offset: 100 * MIB },
  { format: 'markdown' },
].slice(0, tries(6, 2));

prove(
  'fetch_external',
  'A bomb is not unpacked into memory, and no more than was asked for comes back',
  async () => {
    const failures: string[] = [];
    let total = 0;
    const growth = await peakOf(async () => {
      for (const path of BOMBS) {
        const broken = path === '/four-times' || path === '/wrong' ? ['upstream_error'] : [];
        for (const way of WAYS) {
          total += 1;
          // Megabytes of zeros are no page: a converter that gives up on them says so.
          failures.push((await fault(path, way, broken)) ?? '');
        }
      }
    });
    const crowd = await peakOf(() =>
      Promise.all(
        Array.from({ length: 16 }, async (_, index) => {
          total += 1;
          failures.push((await fault(['/gzip', '/br', '/zstd', '/twice'][index % 4] ?? '', {}, [])) ?? '');
        }),
      ),
    );
    const found = failures.filter((failure) => failure !== '');
    for (const [what, grown] of Object.entries({ 'one after the other': growth, '16 at a time': crowd })) {
      if (grown > MOST_FOR_BOMBS) found.push(`${Math.round(grown / MIB)} MiB more memory, ${what}`);
    }
    return {
      tries: total,
      failures: found,
      figures:
        `bodies of ${UNPACKED} MiB from ${smallest} bytes; ` +
        `peak RSS +${Math.round(growth / MIB)} MiB, 16 at a time +${Math.round(crowd / MIB)} MiB more`,
    };
  },
);

prove(
  'fetch_external',
  'A body without an end is cut, and one that drips ends with its deadline',
  async () => {
    const failures: (string | undefined)[] = [];
    const growth = await peakOf(async () => {
      for (const path of ['/chunks', '/tiny-chunks', '/endless-gzip']) {
        failures.push(await fault(path, { max_bytes: MIB }, []));
        failures.push(await fault(path, { max_bytes: 1000, offset: MIB, format: 'base64' }, []));
      }
      const slow = Array.from({ length: tries(50, 10) }, (_, index) =>
        fault(index % 2 === 0 ? '/drip' : '/drip-gzip', { timeout_seconds: 2 }, ['timeout']),
      );
      failures.push(...(await Promise.all(slow)));
    });
    // Their connections are closed by the caller, not left to drip.
    await until('nothing drips any more', async () => (await dripping()) === '0', 10);
    const found = failures.filter((failure) => failure !== undefined);
    if (growth > MOST_FOR_ENDLESS) found.push(`${Math.round(growth / MIB)} MiB more memory`);
    return {
      tries: 6 + tries(50, 10),
      failures: found,
      figures: `peak RSS +${Math.round(growth / MIB)} MiB`,
    };
  },
);

const dripping = async () => (await fetch(`http://127.0.0.1:${port}/dripping`)).text();
