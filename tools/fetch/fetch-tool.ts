// The tool `fetch`: the text at a web address.
import * as z from 'zod/mini';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { createAddressGuard, type GuardOptions } from '../../system/address-guard';
import { isHttp } from './guarded-request';
import { httpGet, type GetResponse } from './http-get';
import { textOf } from './text-of-body';
import { clipText } from '../programs/head-tail';
import { wholeNumber } from '../files/host-files';
import type { Tool } from '../tool';

const DEFAULT_BYTES = 1024 * 1024;
const MAX_BYTES = 10 * 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 600_000;
const SHOWN_BYTES = 64 * 1024;
/** The response headers that describe the content, or what to request next. */
const SHOWN_HEADERS = [
  'content-type',
  'content-length',
  'last-modified',
  'etag',
  'link',
  'location',
  'retry-after',
];

const argsSchema = z.strictObject({
  url: z.string().check(
    z.refine<string>((text) => isHttp(URL.parse(text) ?? new URL('none:')), {
      error: 'must be an address such as https://example.com/page',
    }),
    z.describe('An http or https address.'),
  ),
  method: z._default(z.enum(['GET', 'HEAD']), 'GET').check(z.describe('HEAD: only status and headers.')),
  headers: z
    ._default(
      z.record(
        z.string().check(z.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/)),
        z.string().check(z.regex(/^[\t\x20-\x7e\x80-\xff]*$/)),
      ),
      {},
    )
    .check(
      z.describe('Headers to send. A redirect to another origin gets only harmless ones, such as Accept.'),
    ),
  max_bytes: z._default(
    wholeNumber(1, MAX_BYTES, 'Most bytes of the body to read; the rest is left out.'),
    DEFAULT_BYTES,
  ),
  timeout_ms: z._default(wholeNumber(1, MAX_TIMEOUT_MS, 'Gives up after this long.'), DEFAULT_TIMEOUT_MS),
});
type Args = z.infer<typeof argsSchema>;

const resultSchema = z.object({
  status: z.int().check(z.describe('HTTP status; a server error, such as 404, is a result.')),
  url: z.string().check(z.describe('The address after redirects.')),
  headers: z
    .record(z.string(), z.string())
    .check(z.describe(`Response headers: ${SHOWN_HEADERS.join(', ')}.`)),
  content_type: z.string().check(z.describe('Without its parameters, such as text/html; may be empty.')),
  body: z.string(),
  truncated: z.boolean().check(z.describe('Whether the body is longer than max_bytes.')),
  incomplete: z
    .optional(z.boolean())
    .check(z.describe('True if the server ended its packed body too early: this is what was there.')),
});
type Page = z.infer<typeof resultSchema>;

/** Throws `config_invalid` for entries that `allowPrivate` does not accept. */
export function createFetchTool(options: GuardOptions = {}): Tool<Args, Page> {
  const guard = createAddressGuard(options);
  return {
    name: 'fetch',
    description:
      'Gets a page or a text file over HTTP (GET or HEAD) and follows redirects. Private addresses are refused ' +
      'unless they were opened; binary content is refused: download it with the tool shell.',
    args: argsSchema,
    result: resultSchema,
    effects: 'read_only',
    runsOn: 'host',
    async run({ url, method, headers, max_bytes: maxBytes, timeout_ms: timeoutMs }, context) {
      const time = AbortSignal.timeout(timeoutMs);
      const signal = AbortSignal.any([context.signal, time]);
      try {
        const request = { url: new URL(url), method, headers, maxBytes, signal, guard };
        return pageOf(await httpGet(request));
      } catch (err) {
        context.signal.throwIfAborted();
        if (!time.aborted) throw err;
        throw new HoldfastError('fetch_failed', { got: url, reason: `no answer within ${timeoutMs} ms` });
      }
    },
    text({ body, headers, ...facts }) {
      const lines = [
        `HTTP ${facts.status} ${facts.url}`,
        ...Object.entries(headers).map(([k, v]) => `${k}: ${v}`),
      ];
      const note = facts.truncated
        ? '\n[cut here: more with a larger max_bytes]'
        : facts.incomplete
          ? '\n[incomplete: the server ended its packed body here]'
          : '';
      return `${lines.join('\n')}\n\n${clipText(body, SHOWN_BYTES)}${note}`;
    },
  };
}

function pageOf({ status, url, headers, body, truncated, isIncomplete }: GetResponse): Page {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim());
  const charset = parameters
    .map((parameter) => /^charset="?([^"]+)"?$/i.exec(parameter)?.[1])
    .find((value) => value !== undefined);
  const shown = SHOWN_HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  return {
    status,
    url: url.href,
    headers: Object.fromEntries(shown),
    content_type: type.toLowerCase(),
    body: decoded(body, type, charset, url),
    truncated,
    ...(isIncomplete && { incomplete: true }),
  };
}

/** Throws `invalid_input` if it is not text. */
function decoded(body: Buffer, type: string, charset: string | undefined, url: URL): string {
  const text = textOf(body, type, charset);
  if (text !== null) return text;
  throw new HoldfastError('invalid_input', {
    what: 'The content',
    got: `${type || 'binary data'} at ${url.href}`,
    allowed: 'text',
    next: 'Download it with the tool shell (`curl -fsSLo FILE URL`), or use HEAD to see what it is.',
  });
}
