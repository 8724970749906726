// The body of an answer, without its content encoding.
import type * as http from 'node:http';
import { Readable, type Duplex } from 'node:stream';
import * as zlib from 'node:zlib';
import { ownValue } from '../../contracts/own';

interface Unpacker {
  stream: () => Duplex;
  /** What can be had of packed bytes that break off. */
  part: (packed: Buffer, maxOutputLength: number) => Buffer;
}

const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants;
const unpacker = (
  stream: Unpacker['stream'],
  unpack: (packed: Buffer, options: zlib.ZlibOptions & zlib.BrotliOptions) => Buffer,
  finishFlush = Z_SYNC_FLUSH,
): Unpacker => ({
  stream,
  part: (packed, maxOutputLength) => unpack(packed, { finishFlush, maxOutputLength }),
});

const GZIP = unpacker(zlib.createGunzip, zlib.gunzipSync);
const ZLIB = unpacker(zlib.createInflate, zlib.inflateSync);
const RAW = unpacker(zlib.createInflateRaw, zlib.inflateRawSync);
const BROTLI = unpacker(zlib.createBrotliDecompress, zlib.brotliDecompressSync, BROTLI_OPERATION_FLUSH);

/** By encoding, chosen by the first byte: "deflate" means zlib (RFC 9110), and some servers leave its header out. */
const UNPACKERS: Record<string, (first: number) => Unpacker> = {
  gzip: () => GZIP,
  'x-gzip': () => GZIP,
  deflate: (first) => ((first & 0x0f) === 8 ? ZLIB : RAW),
  br: () => BROTLI,
};
export const ENCODINGS = Object.keys(UNPACKERS);

export interface Body {
  /** At most as many bytes as were asked for. */
  body: Buffer;
  /** There is more of it. */
  truncated: boolean;
  /** The server ended its packed body too early: this is what was there. */
  isIncomplete: boolean;
}

/** An empty body is one without a byte, packed or not. Throws what the connection or the content fails with. */
export async function readBody(response: http.IncomingMessage, maxBytes: number): Promise<Body> {
  const received: AsyncIterator<Buffer, undefined> = (response as AsyncIterable<Buffer, undefined>)[
    Symbol.asyncIterator
  ]();
  const { value: first } = await received.next();
  if (!first) return { body: Buffer.alloc(0), truncated: false, isIncomplete: false };
  const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase();
  const kept: Buffer[] = [];
  let keptBytes = 0;
  async function* parts(): AsyncGenerator<Buffer> {
    let part: Buffer | undefined = first;
    while (part) {
      // More is not needed to give as much as was asked for.
      if (keptBytes <= maxBytes) kept.push(part);
      keptBytes += part.length;
      yield part;
      part = (await received.next()).value;
    }
  }
  const plain = encoding === '' || encoding === 'identity';
  if (plain) return { ...(await collect(parts(), maxBytes)), isIncomplete: false };
  const packing = ownValue(UNPACKERS, encoding)?.(first[0] ?? 0);
  if (!packing)
    throw new Error(`its body is packed by ${encoding.slice(0, 100)}, allowed ${ENCODINGS.join(', ')}`);
  const stream = packing.stream();
  const source = Readable.from(parts(), { objectMode: false });
  // `pipe` does not forward errors: the reader would wait for a response that was cut off.
  source.on('error', (err) => stream.destroy(err)).pipe(stream);
  try {
    return { ...(await collect(stream as AsyncIterable<Buffer>, maxBytes)), isIncomplete: false };
  } catch (err) {
    // How zlib says that the end is missing.
    if ((err as NodeJS.ErrnoException).code !== 'Z_BUF_ERROR' || !response.complete) throw err;
    const body = packing.part(Buffer.concat(kept), maxBytes + SLACK_BYTES).subarray(0, maxBytes);
    if (body.length === 0) throw err;
    return { body, truncated: false, isIncomplete: true };
  } finally {
    source.destroy();
  }
}

/** More than one step of zlib gives. */
const SLACK_BYTES = 65_536;

async function collect(
  source: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<Pick<Body, 'body' | 'truncated'>> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of source) {
    parts.push(part.subarray(0, maxBytes - bytes));
    bytes += part.length;
    if (bytes > maxBytes) break;
  }
  return { body: Buffer.concat(parts), truncated: bytes > maxBytes };
}
