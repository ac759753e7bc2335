// A few kilobytes that become gigabytes, a body without an end, and one that comes a byte at a time: the ways to
// exhaust whoever reads to the end before he looks at the size.
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';

import { afterAll, beforeAll } from 'vitest';

import { ToolError } from '../../src/core/errors.ts';
import { type Site, openSite } from '../support/fetch-servers.ts';
import { type FetchTool, fetchTool } from '../support/fetch-tool.ts';
import { prove, tries } from './row.ts';

const MIB = 1024 * 1024;
const UNPACKED = tries(1024, 512) * MIB;
/** The most that the tool gives, and beside it what it may hold of a body on the way. */
const CAP = 10_485_760;
const MOST_GROWTH = 192 * MIB;

const CODERS = {
  gzip: () => zlib.createGzip({ level: 9 }),
  br: () => zlib.createBrotliCompress({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: () => zlib.createZstdCompress(),
};

/** Paths, with their codings and bodies. */
const bodies = new Map<string, { coding: string; body: Buffer }>();
let site: Site;
let tool: FetchTool;
let drips = 0;

/** What never ends by itself, by path. */
const ENDLESS: Record<string, (response: ServerResponse) => void> = {
  '/chunks': (response) => pour(response, Buffer.alloc(65_536, 'x')),
  '/tiny-chunks': (response) => pour(response, Buffer.from('x')),
  '/endless-gzip': (response) => {
    response.setHeader('content-encoding', 'gzip');
    const zip = zlib.createGzip();
    zip.pipe(response);
    response.on('close', () => zip.destroy());
    pour(zip, Buffer.alloc(65_536));
  },
  '/drip': (response) => drip(response),
  '/drip-gzip': (response) => {
    response.setHeader('content-encoding', 'gzip');
    drip(response, zlib.gzipSync(Buffer.alloc(MIB)));
  },
};

function pour(to: NodeJS.WritableStream & { destroyed?: boolean }, chunk: Buffer): void {
  const more = () => {
    while (to.destroyed !== true && to.write(chunk));
  };
  to.on('drain', more);
  more();
}

/** A byte now and then, so that no pause is long enough for a limit of idleness. */
function drip(response: ServerResponse, bytes = Buffer.alloc(1000, 'x')): void {
  let at = 0;
  drips += 1;
  const timer = setInterval(() => {
    response.write(bytes.subarray(at, at + 1));
    at = (at + 1) % bytes.length;
  }, 100);
  response.on('close', () => {
    clearInterval(timer);
    drips -= 1;
  });
}

async function bomb(coding: keyof typeof CODERS): Promise<Buffer> {
  const zeros = Buffer.alloc(MIB);
  function* source() {
    for (let made = 0; made < UNPACKED; made += MIB) yield zeros;
  }
  let body = Buffer.alloc(0);
  await pipeline(Readable.from(source()), CODERS[coding](), async (stream) => {
    body = await buffer(stream as Readable);
  });
  return body;
}

/** The same in zlib's format: its two bytes of header, and the Adler-32 of that many zeros. */
function asZlib(raw: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE((UNPACKED % 65_521) * 65_536 + 1);
  return Buffer.concat([Buffer.from([0x78, 0xda]), raw, sum]);
}

beforeAll(async () => {
  const add = (path: string, coding: string, body: Buffer) => bodies.set(path, { coding, body });
  const gzip = await bomb('gzip');
  add('/gzip', 'gzip', gzip);
  add('/x-gzip', 'x-gzip', gzip);
  // Between gzip's header and its trailer stands what deflate is.
  const raw = gzip.subarray(10, -8);
  add('/deflate', 'deflate', asZlib(raw));
  add('/rawdeflate', 'deflate', raw);
  add('/br', 'br', await bomb('br'));
  add('/zstd', 'zstd', await bomb('zstd'));
  add('/twice', 'gzip, gzip', zlib.gzipSync(gzip, { level: 9 }));
  add('/thrice', 'gzip, br, zstd', zlib.zstdCompressSync(zlib.brotliCompressSync(gzip)));
  add('/four-times', 'gzip, gzip, gzip, gzip', zlib.gzipSync(gzip));
  add(
    '/members',
    'gzip',
    Buffer.concat(Array.from({ length: 64 }, () => zlib.gzipSync(Buffer.alloc(4 * MIB)))),
  );
  add('/wrong', 'br', gzip);
  site = await openSite((request, response) => {
    const path = request.url ?? '';
    response.setHeader('content-type', 'text/html');
    const known = bodies.get(path);
    if (known) response.writeHead(200, { 'content-encoding': known.coding }).end(known.body);
    else ENDLESS[path]?.(response);
  });
  tool = fetchTool({ PROXY_ALLOWED_DOMAINS: '127.0.0.1' });
}, 170_000);
afterAll(async () => {
  await tool.close();
  await site.close();
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
      url: `http://127.0.0.1:${site.port}${path}`,
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
      for (const path of bodies.keys()) {
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
      if (grown > MOST_GROWTH) found.push(`${Math.round(grown / MIB)} MiB more memory, ${what}`);
    }
    return {
      tries: total,
      failures: found,
      figures:
        `bodies of ${UNPACKED / MIB} MiB from ${Math.min(...[...bodies.values()].map(({ body }) => body.length))} bytes; ` +
        `peak RSS +${Math.round(growth / MIB)} MiB with the sender's, 16 at a time +${Math.round(crowd / MIB)} MiB more`,
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
    const closed = await gone(() => drips === 0);
    if (!closed) failures.push(`${drips} connections drip on`);
    const found = failures.filter((failure) => failure !== undefined);
    if (growth > MOST_GROWTH) found.push(`${Math.round(growth / MIB)} MiB more memory`);
    return {
      tries: 6 + tries(50, 10),
      failures: found,
      figures: `peak RSS +${Math.round(growth / MIB)} MiB`,
    };
  },
);

async function gone(isGone: () => boolean): Promise<boolean> {
  const end = Date.now() + 10_000;
  while (!isGone() && Date.now() < end) await new Promise((resolve) => setImmediate(resolve));
  return isGone();
}
