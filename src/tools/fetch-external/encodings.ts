import { type Duplex, type Readable, pipeline } from 'node:stream';
import zlib from 'node:zlib';

import { ToolError } from '../../core/errors.ts';

/** More layers than this serve no honest server, and each one multiplies what a small body can become. */
const MOST_LAYERS = 3;
/** 8 MiB, the most that zstd as a content coding may ask of a receiver (RFC 9659). */
const ZSTD_WINDOW_LOG = 23;

// Node has zstd from 22.15 on; before that, servers must not be asked for it.
const hasZstd = 'createZstdDecompress' in zlib;

/** What servers may compress with. */
export const ACCEPT_ENCODING = hasZstd ? 'gzip, deflate, br, zstd' : 'gzip, deflate, br';

const DECODERS: Readonly<Record<string, () => Duplex>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  br: () => zlib.createBrotliDecompress(),
  ...(hasZstd && {
    zstd: () =>
      zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
  }),
};

/**
 * The body's bytes without its content codings. Nothing is decompressed ahead of the reader, so a body that
 * becomes gigabytes costs what is read of it.
 * @param contentEncoding the header, undefined where there is none
 * @throws ToolError `upstream_error` for a coding that cannot be undone
 */
export async function* decoded(
  body: Readable,
  contentEncoding: string | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  const codings = (contentEncoding ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > MOST_LAYERS) {
    throw new ToolError('upstream_error', `The body is compressed ${codings.length} times over.`);
  }
  const unknown = codings.find((coding) => coding !== 'deflate' && !(coding in DECODERS));
  if (unknown !== undefined) {
    throw new ToolError(
      'upstream_error',
      `The body is encoded as ${unknown.slice(0, 32)}, which cannot be read.`,
      {
        hint: `The request accepted only: ${ACCEPT_ENCODING}.`,
      },
    );
  }
  let stream: AsyncIterable<Buffer> = body;
  const opened: Readable[] = [body];
  // Leaving early is an error of the stream, which without a listener would end the process.
  body.on('error', () => {});
  try {
    for (const coding of codings.toReversed()) {
      const chunks = stream[Symbol.asyncIterator]();
      const first = await firstBytes(chunks);
      // A server may announce a coding and then send nothing, which no decompressor takes for an end.
      if (first === undefined) return;
      const decoder = coding === 'deflate' ? inflate(first) : (DECODERS[coding] as () => Duplex)();
      opened.push(decoder);
      // Errors reach the reader through the decoder, which the pipeline destroys with them.
      stream = pipeline(rejoined(first, chunks), decoder, () => {}) as Duplex;
    }
    yield* stream;
  } finally {
    // A reader that has enough leaves; what was opened for it must not go on.
    for (const each of opened) each.destroy();
  }
}

/** Half of the servers send raw deflate where the standard asks for zlib's format; its first byte tells. */
function inflate(first: Buffer): Duplex {
  return ((first[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw();
}

async function firstBytes(chunks: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  for (;;) {
    const { value, done } = await chunks.next();
    if (done) return undefined;
    if (value.length > 0) return value;
  }
}

async function* rejoined(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  for (;;) {
    const { value, done } = await rest.next();
    if (done) return;
    yield value;
  }
}
