// One HTTP request with redirects, bounded in size and time.
import type * as http from 'node:http';
import { createBrotliDecompress, createGunzip, createInflate, type Zlib } from 'node:zlib';
import type { Duplex, Readable } from 'node:stream';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { ownValue } from '../../contracts/own';
import type { AddressGuard } from '../../system/address-guard';
import { guardedRequest, isHttp } from './guarded-request';

const MAX_REDIRECTS = 10;
const REDIRECTS = [301, 302, 303, 307, 308];

const DECODERS: Record<string, () => Duplex & Zlib> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

export interface GetRequest {
  url: URL;
  method: 'GET' | 'HEAD';
  headers: Readonly<Record<string, string>>;
  maxBytes: number;
  signal: AbortSignal;
  guard: AddressGuard;
}

export interface GetResponse {
  status: number;
  /** The address after redirects. */
  url: URL;
  headers: http.IncomingHttpHeaders;
  /** At most `maxBytes` of the decompressed body. */
  body: Buffer;
  truncated: boolean;
}

/** Throws `address_refused`, `invalid_input` for a redirect that cannot be followed, and `fetch_failed`. */
export async function httpGet(request: GetRequest): Promise<GetResponse> {
  let { url, headers } = request;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    let end = (): void => undefined;
    try {
      const sent = { ...request, url, headers: { ...DEFAULT_HEADERS, ...headers } };
      const { response, close } = await guardedRequest(sent);
      end = close;
      const { statusCode: status = 0, headers: received } = response;
      const to = REDIRECTS.includes(status) ? received.location : undefined;
      if (to === undefined) return { status, url, headers: received, ...(await read(response, request)) };
      const next = targetOf(to, url);
      if (next.origin !== url.origin) headers = harmless(headers);
      url = next;
    } catch (err) {
      throw failed(err, url, request.signal);
    } finally {
      end();
    }
  }
  throw new HoldfastError('fetch_failed', {
    got: request.url.href,
    reason: `it redirects more than ${MAX_REDIRECTS} times`,
  });
}

const DEFAULT_HEADERS = {
  'user-agent': 'holdfast',
  accept: '*/*',
  'accept-encoding': Object.keys(DECODERS).join(', '),
};

async function read(
  response: http.IncomingMessage,
  { maxBytes, method }: GetRequest,
): Promise<Pick<GetResponse, 'body' | 'truncated'>> {
  if (method === 'HEAD') return { body: Buffer.alloc(0), truncated: false };
  const decoder = ownValue(DECODERS, response.headers['content-encoding']?.toLowerCase() ?? '')?.();
  const source: Readable = decoder ? response.pipe(decoder) : response;
  // `pipe` does not forward errors: the reader would wait for a response that was cut off.
  if (decoder) response.on('error', (err) => decoder.destroy(err));
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of source as AsyncIterable<Buffer>) {
      parts.push(part.subarray(0, maxBytes - bytes));
      bytes += part.length;
      if (bytes > maxBytes) break;
    }
  } catch (err) {
    // Servers name an encoding for an empty body, too, as of a 304: nothing is to be unpacked.
    if (decoder?.bytesWritten !== 0 || !response.complete) throw err;
  }
  return { body: Buffer.concat(parts), truncated: bytes > maxBytes };
}

function targetOf(location: string, from: URL): URL {
  const target = URL.parse(location, from.href);
  if (target && isHttp(target)) return target;
  const reason = `it redirects to ${location.slice(0, 200)}, allowed an address of http or https`;
  throw new HoldfastError('fetch_failed', { got: from.href, reason });
}

/**
 * Headers that may be sent to an origin that the caller did not name. An allow-list: any header, such as `X-Api-Key`,
 * can hold a credential.
 */
const HARMLESS = [
  ...[
    'accept',
    'accept-charset',
    'accept-encoding',
    'accept-language',
    'user-agent',
    'cache-control',
    'pragma',
  ],
  ...['range', 'if-modified-since', 'if-unmodified-since'],
];

const harmless = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.includes(name.toLowerCase())));

/** An abort is thrown unchanged: it is not the other side's fault. */
function failed(err: unknown, url: URL, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (err instanceof HoldfastError) return err;
  const { code } = err as NodeJS.ErrnoException;
  return new HoldfastError('fetch_failed', { got: url.href, reason: reasonOf(err) || (code ?? 'unknown') });
}
