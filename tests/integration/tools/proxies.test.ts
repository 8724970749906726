// Models, MCP servers, fetch and webhooks behind a proxy. fastagent-sh/fastagent#474
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as tls from 'node:tls';
import { join } from 'node:path';
import type { LookupFunction } from 'node:net';
import { createProviders } from '../../../models/providers';
import { HTTP_PROVIDERS } from '../../../models/model-settings';
import { createAddressGuard } from '../../../system/address-guard';
import { proxiedFetch } from '../../../system/http/patient-fetch';
import { httpGet } from '../../../tools/fetch/http-get';
import { ask } from '../../helpers/services/model-simulator';
import { pathOf, testWith } from '../../helpers/run/programs';

const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
const before = Object.fromEntries(NAMES.map((name) => [name, process.env[name]]));
const servers: Server[] = [];
/** What the proxy was asked for, in order. */
const seen: string[] = [];
const credentials: (string | undefined)[] = [];
let proxy = '';
/** Where it tunnels to, whatever the name; null: nowhere. */
let target: number | null = null;

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
async function listening<S extends Server>(server: S): Promise<S> {
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

const note = ({ method, url, headers }: IncomingMessage): void => {
  seen.push(`${method} ${url}`);
  credentials.push(headers['proxy-authorization']);
};

/** Jest's files have a global object of their own, and Node's `fetch` keeps its dispatcher at Node's. */
function shareDispatcher(): void {
  const name = Symbol.for('undici.globalDispatcher.1');
  const make = fetch.constructor as (code: string) => () => Record<symbol, unknown>;
  Object.assign(globalThis, { [name]: make('void Response; return globalThis')()[name] });
}

beforeAll(async () => {
  shareDispatcher();
  const server = createServer((request, response) => {
    note(request);
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ choices: [{ message: { content: request.headers.host }, finish_reason: 'stop' }] }),
    );
  });
  server.on('connect', (request, socket) => {
    note(request);
    if (target === null) return void socket.end('HTTP/1.1 502 No Way\r\ncontent-length: 0\r\n\r\n');
    const far = connect(target, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      far.pipe(socket).pipe(far);
    });
    socket.on('error', () => far.destroy());
    far.on('error', () => socket.destroy());
  });
  proxy = `127.0.0.1:${portOf(await listening(server))}`;
});
beforeEach(() => {
  for (const name of NAMES) delete process.env[name];
  process.env.HTTP_PROXY = `http://${proxy}`;
  process.env.https_proxy = proxy;
  seen.length = 0;
  credentials.length = 0;
  target = null;
});
afterAll(() => {
  for (const name of NAMES) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

const noAddress: LookupFunction = (name, _options, callback) =>
  callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), '', 0);
const get = (url: string, lookup = noAddress): ReturnType<typeof httpGet> =>
  httpGet({
    url: new URL(url),
    method: 'GET',
    headers: {},
    maxBytes: 1_000,
    signal: AbortSignal.timeout(20_000),
    guard: createAddressGuard({ lookup, own: () => [] }),
  });

test('a model is asked through it, with its own host name and the proxy’s password', async () => {
  process.env.HTTP_PROXY = `http://me:p%40ss@${proxy}`;
  const far = { ...HTTP_PROVIDERS['openai-chat'], baseUrl: 'http://model.invalid/v1', key: null };
  const reply = createProviders({}, { providers: { far }, models: {} })('far:any').reply(ask('hello'));
  expect((await reply).text).toBe('model.invalid');
  expect(seen).toEqual(['POST http://model.invalid/v1/chat/completions']);
  expect(credentials).toEqual([`Basic ${Buffer.from('me:p@ss').toString('base64')}`]);
});

test('an error of the proxy names it, and not its password', async () => {
  process.env.HTTPS_PROXY = `http://me:secret@${proxy}`;
  delete process.env.https_proxy;
  const far = { ...HTTP_PROVIDERS['openai-chat'], baseUrl: 'https://model.invalid/v1', key: null };
  const reply = createProviders({}, { providers: { far }, models: {} })('far:any').reply(ask('hello'));
  const err: unknown = await reply.catch((thrown: unknown) => thrown);
  expect(err).toMatchObject({ code: 'model_unreachable' });
  expect(String(err)).toContain(
    `the proxy ${proxy} does not connect to model.invalid:443: it answers 502 No Way`,
  );
  expect(String(err)).not.toContain('secret');
});

test('neither what NO_PROXY names nor this machine is reached through it', async () => {
  const direct = await listening(createServer((_, response) => response.end('direct')));
  process.env.NO_PROXY = 'other.example, .invalid';
  expect(await (await proxiedFetch(`http://127.0.0.1:${portOf(direct)}/`)).text()).toBe('direct');
  await expect(proxiedFetch('http://model.invalid/')).rejects.toThrow('fetch failed');
  expect(seen).toEqual([]);
});

test('a proxy of another kind is refused, with the variable that names it', async () => {
  process.env.HTTP_PROXY = 'socks5://me:secret@127.0.0.1:1';
  const refused = {
    code: 'config_invalid',
    message: expect.stringMatching(/HTTP_PROXY: got socks5:\/\/\*\*\*@127/) as string,
  };
  await expect(proxiedFetch('http://model.invalid/')).rejects.toMatchObject(refused);
  await expect(get('http://page.invalid/')).rejects.toMatchObject(refused);
});

describe('fetch', () => {
  test('gets a page through it whose name only the proxy knows', async () => {
    const { body, status } = await get('http://page.invalid/a?b=c#d');
    expect([status, body.toString().includes('page.invalid'), seen]).toEqual([
      200,
      true,
      ['GET http://page.invalid/a?b=c'],
    ]);
  });

  test.each([
    'http://10.0.0.1/',
    'http://169.254.169.254/latest',
    'https://[fd00::1]/',
    'http://metadata.google.internal/',
    'http://printer/',
    'http://wiki.corp/',
  ])('never asks it for %s', async (url) => {
    await expect(get(url)).rejects.toMatchObject({ code: 'address_refused' });
    expect(seen).toEqual([]);
  });

  test('never asks it for a name that this machine knows at a private address', async () => {
    const known: LookupFunction = (_name, _options, callback) =>
      callback(null, [{ address: '10.1.2.3', family: 4 }] as never, 4);
    await expect(get('https://page.example/', known)).rejects.toMatchObject({ code: 'address_refused' });
    expect(seen).toEqual([]);
  });
});

testWith('openssl')(
  'a server with TLS is reached through a tunnel, which checks its certificate',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'proxies-'));
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name)) as [string, string];
    const made = [
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      key,
      '-out',
      cert,
      '-subj',
      '/CN=page.invalid',
      '-addext',
      'subjectAltName=DNS:page.invalid',
    ];
    execFileSync(pathOf('openssl'), ['req', '-x509', '-days', '2', ...made], { stdio: 'ignore' });
    const certificate = readFileSync(cert, 'utf8');
    const sealed = createTlsServer({ key: readFileSync(key), cert: certificate }, (_, response) =>
      response.end('sealed'),
    );
    rmSync(folder, { recursive: true });
    target = portOf(await listening(sealed));
    await expect(get('https://page.invalid/')).rejects.toMatchObject({
      message: expect.stringMatching(/self.signed/) as string,
    });
    await expect(proxiedFetch('https://page.invalid/')).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/self.signed/) as string },
    });
    const known = tls.getCACertificates('default');
    tls.setDefaultCACertificates([...known, certificate]);
    try {
      expect((await get('https://page.invalid/')).body.toString()).toBe('sealed');
      expect(await (await proxiedFetch('https://page.invalid/')).text()).toBe('sealed');
    } finally {
      tls.setDefaultCACertificates(known);
    }
    expect(new Set(seen)).toEqual(new Set(['CONNECT page.invalid:443']));
  },
);
