// The codec endpoint for Temporal's web UI and command line: `POST /encode` and `/decode`. Anyone with access can read
// everything, so it answers only listed origins and, if a token is set, only clients that send it.
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import type { EncryptingCodec } from './encrypting-codec';
import { parsePayloads, printPayloads } from './payload-json';

export interface CodecServerOptions {
  codec: EncryptingCodec;
  /** Web pages that may ask, such as `http://127.0.0.1:8233`. Programs, which send no origin, may ask too. */
  origins: readonly string[];
  /** Required as `Authorization: Bearer TOKEN`; null: not required. */
  token: string | null;
  port: number;
  address: string;
}

export interface CodecServer {
  url: string;
  close(): Promise<void>;
}

/** A page of a history is smaller than this. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
const PREFLIGHT_SECONDS = '600';
/** For an answer that is not read. */
const IDLE_MS = 30_000;

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[?::1\]?|localhost)$/i;

type Work = (
  payloads: Parameters<EncryptingCodec['encode']>[0],
  namespace: string,
) => ReturnType<EncryptingCodec['encode']>;

/** Throws `port_in_use`. */
export async function serveCodec(options: CodecServerOptions): Promise<CodecServer> {
  const { codec, port, address } = options;
  const work: Record<string, Work> = {
    '/encode': (payloads, namespace) => codec.encodeFor(payloads, { namespace }),
    '/decode': (payloads, namespace) => codec.open(payloads, { namespace }),
  };
  const server = createServer((request, response) => {
    answer(request, response, options, work).catch((err: unknown) => refuse(response, 500, internal(err)));
  });
  server.requestTimeout = IDLE_MS;
  await listen(server, port, address);
  const { port: taken } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://${address.includes(':') ? `[${address}]` : address}:${taken}`, close };
}

function listen(server: Server, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (err: NodeJS.ErrnoException) =>
      reject(
        err.code === 'EADDRINUSE'
          ? new HoldfastError('port_in_use', { got: port })
          : new HoldfastError('invalid_input', {
              what: '--listen',
              got: address,
              allowed: `an address of this machine (${err.message})`,
            }),
      ),
    );
    server.listen(port, address, () => resolve());
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { origins, token, address }: CodecServerOptions,
  work: Readonly<Record<string, Work>>,
): Promise<void> {
  const { method = '', headers } = request;
  const { origin, host = '' } = headers;
  if (!isOwnName(host, address)) return refuse(response, 403, refusedHost(host, address));
  if (origin !== undefined) {
    if (!origins.includes(origin)) return refuse(response, 403, refusedOrigin(origin, origins));
    allowOrigin(response, origin);
  }
  if (method === 'OPTIONS') return void response.writeHead(204).end();
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  const run = Object.hasOwn(work, path) ? work[path] : undefined;
  if (method !== 'POST' || !run) return refuse(response, run ? 405 : 404, refusedPath(method, path));
  if (token !== null && !isToken(headers.authorization, token))
    return refuse(response, 401, refusedToken(headers.authorization));
  if (!/^application\/json\b/i.test(headers['content-type'] ?? ''))
    return refuse(
      response,
      415,
      refusedBody(`content-type ${JSON.stringify(headers['content-type'] ?? 'none')}`),
    );
  const namespace = headers['x-namespace'];
  if (typeof namespace !== 'string' || namespace === '') return refuse(response, 400, refusedNamespace());
  const body = await readBody(request);
  if (body === undefined) return refuse(response, 413, refusedBody(`more than ${MAX_BODY_BYTES} bytes`));
  try {
    const payloads = await run(parsePayloads(body), namespace);
    response.writeHead(200, { 'content-type': 'application/json' }).end(printPayloads(payloads));
  } catch (err) {
    if (!(err instanceof HoldfastError)) throw err;
    refuse(response, 400, err);
  }
}

/**
 * On the loopback only the names of this machine are valid: a page that rebinds its own name to this address (DNS
 * rebinding) sends that name. Elsewhere a server has names that it does not know, but also a token.
 */
const isOwnName = (host: string, address: string): boolean =>
  !LOOPBACK.test(address) || LOOPBACK.test(host.replace(/:\d+$/, ''));

function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('vary', 'Origin');
  response.setHeader('access-control-allow-methods', 'POST, OPTIONS');
  response.setHeader('access-control-allow-headers', 'content-type, x-namespace, authorization');
  response.setHeader('access-control-allow-credentials', 'true');
  response.setHeader('access-control-max-age', PREFLIGHT_SECONDS);
}

/** Compares hashes, which have equal length: the time reveals nothing about the token. */
function isToken(header: string | undefined, token: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(header ?? ''), hash(`Bearer ${token}`));
}

/** Undefined if it is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function refuse(response: ServerResponse, status: number, err: HoldfastError): void {
  if (response.headersSent) return void response.destroy();
  // Do not wait for the rest of the request.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ error: err.toJSON() }));
}

const internal = (err: unknown): HoldfastError => new HoldfastError('internal', { reason: reasonOf(err) });

const refusedOrigin = (origin: string, origins: readonly string[]): HoldfastError =>
  new HoldfastError('codec_refused', {
    got: `origin ${origin}`,
    allowed: origins.join(', ') || 'no web page',
    next: `Start it with \`--origin ${origin}\` to let that page read payloads.`,
  });

const refusedHost = (host: string, address: string): HoldfastError =>
  new HoldfastError('codec_refused', {
    got: `the name ${JSON.stringify(host)}`,
    allowed: `${address}, localhost`,
    next: 'Name the endpoint by its address, as `holdfast codec` prints it.',
  });

const refusedPath = (method: string, path: string): HoldfastError =>
  new HoldfastError('codec_refused', {
    got: `${method} ${path}`,
    allowed: 'POST /encode, POST /decode',
    next: 'Name the endpoint without a path in the web UI and with --codec-endpoint.',
  });

const refusedToken = (header: string | undefined): HoldfastError =>
  new HoldfastError('codec_refused', {
    got: header === undefined ? 'no authorization' : 'another authorization',
    allowed: 'the token',
    next: 'Send it as `Authorization: Bearer TOKEN` (`--codec-auth` of `temporal`).',
  });

const refusedBody = (got: string): HoldfastError =>
  new HoldfastError('codec_refused', {
    got,
    allowed: `application/json of at most ${MAX_BODY_BYTES} bytes`,
    next: 'Send fewer payloads at a time.',
  });

const refusedNamespace = (): HoldfastError =>
  new HoldfastError('codec_refused', {
    got: 'no X-Namespace',
    allowed: 'the namespace of the payloads',
    next: 'Send the header, as Temporal’s web UI and command line do.',
  });
