/**
 * The sender of bombs and of bodies without an end, a process of its own: what it holds of them is no memory of the
 * tool's. Started by fork() with the bombs' size in MiB; says `{port, smallest}` once it listens, and answers at
 * /dripping how many connections it still drips into.
 */
import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';

const MIB = 1024 * 1024;
const UNPACKED = Number(process.argv[2]) * MIB;

const CODERS = {
  gzip: () => zlib.createGzip({ level: 9 }),
  br: () => zlib.createBrotliCompress({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: () => zlib.createZstdCompress(),
};

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

const gzip = await bomb('gzip');
// Between gzip's header and its trailer stands what deflate is.
const raw = gzip.subarray(10, -8);
const members = Array.from({ length: 64 }, () => zlib.gzipSync(Buffer.alloc(4 * MIB)));
const bodies: Record<string, { coding: string; body: Buffer }> = {
  '/gzip': { coding: 'gzip', body: gzip },
  '/x-gzip': { coding: 'x-gzip', body: gzip },
  '/deflate': { coding: 'deflate', body: asZlib(raw) },
  '/rawdeflate': { coding: 'deflate', body: raw },
  '/br': { coding: 'br', body: await bomb('br') },
  '/zstd': { coding: 'zstd', body: await bomb('zstd') },
  '/twice': { coding: 'gzip, gzip', body: zlib.gzipSync(gzip, { level: 9 }) },
  '/thrice': { coding: 'gzip, br, zstd', body: zlib.zstdCompressSync(zlib.brotliCompressSync(gzip)) },
  '/four-times': { coding: 'gzip, gzip, gzip, gzip', body: zlib.gzipSync(gzip) },
  '/members': { coding: 'gzip', body: Buffer.concat(members) },
  '/wrong': { coding: 'br', body: gzip },
};

const server = createServer((request, response) => {
  const path = request.url ?? '';
  const known = bodies[path];
  response.setHeader('content-type', 'text/html');
  if (path === '/dripping') response.end(String(drips));
  else if (known) response.writeHead(200, { 'content-encoding': known.coding }).end(known.body);
  else ENDLESS[path]?.(response);
}).listen(0, '127.0.0.1', () => {
  const sizes = Object.values(bodies).map(({ body }) => body.length);
  process.send?.({ port: (server.address() as AddressInfo).port, smallest: Math.min(...sizes) });
});
process.on('disconnect', () => process.exit());
