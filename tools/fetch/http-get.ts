// One HTTP request with redirects, bounded in size and time.
import type * as http from 'node:http';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { AddressGuard } from '../../system/address-guard';
import { guardedRequest, isHttp } from './guarded-request';
import { ENCODINGS, readBody, type Body } from './unpacked';
import { beginningOf } from '../../contracts/text/well-formed';

const MAX_REDIRECTS = 10;
const REDIRECTS = [301, 302, 303, 307, 308];

export interface GetRequest {
  url: URL;
  method: 'GET' | 'HEAD';
  headers: Readonly<Record<string, string>>;
  maxBytes: number;
  signal: AbortSignal;
  guard: AddressGuard;
}

export interface GetResponse extends Body {
  status: number;
  /** The address after redirects. */
  url: URL;
  headers: http.IncomingHttpHeaders;
}

/** Throws `address_refused`, `invalid_input` for a redirect that cannot be followed, and `fetch_failed`. */
export async function httpGet(request: GetRequest): Promise<GetResponse> {
  let { url, headers } = request;
  const bodyOf = (response: http.IncomingMessage): Promise<Body> | Body =>
    request.method === 'HEAD' ? NO_BODY : readBody(response, request.maxBytes);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    let end = (): void => undefined;
    try {
      const sent = { ...request, url, headers: { ...DEFAULT_HEADERS, ...headers } };
      const { response, close } = await guardedRequest(sent);
      end = close;
      const { statusCode: status = 0, headers: received } = response;
      const to = REDIRECTS.includes(status) ? received.location : undefined;
      if (to === undefined) return { status, url, headers: received, ...(await bodyOf(response)) };
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

const NO_BODY: Body = { body: Buffer.alloc(0), truncated: false, isIncomplete: false };

const DEFAULT_HEADERS = {
  'user-agent': 'holdfast',
  accept: '*/*',
  'accept-encoding': ENCODINGS.join(', '),
};

function targetOf(location: string, from: URL): URL {
  const target = URL.parse(location, from.href);
  if (target && isHttp(target)) return target;
  const reason = `it redirects to ${beginningOf(location, 200)}, allowed an address of http or https`;
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
