// The guard of the web UI, in front of a server that answers everything.
import { once } from 'node:events';
import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { createUiGuard } from '../../../../engine/ui-guard/ui-guard';
import { openingLink } from '../../../../engine/ui-guard/ui-guard-rules';

const TOKEN = 'a-token-that-is-long-enough';
const bearer = { authorization: `Bearer ${TOKEN}` };

let behind: Server;
let seen: {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}[];
let guard: Server;
let open: Server;
let port: number;

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
async function listening(server: Server, at = 0): Promise<number> {
  await once(server.listen(at, '127.0.0.1'), 'listening');
  return portOf(server);
}

beforeAll(async () => {
  behind = createServer((incoming, response) => {
    let body = '';
    incoming.on('data', (chunk) => (body += String(chunk)));
    incoming.on('end', () => {
      const { method, url, headers } = incoming;
      seen.push({ method, url, headers, body });
      response.writeHead(200, { 'set-cookie': '_csrf=x', 'x-frame-options': 'ALLOWALL' }).end('secret');
    });
  });
  const target = { address: '127.0.0.1', port: await listening(behind) };
  // Its own port is part of the names that it answers to.
  const spare = createServer();
  port = await listening(spare);
  await new Promise((resolve) => spare.close(resolve));
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  guard = createUiGuard(target, { hosts, token: TOKEN });
  await listening(guard, port);
  open = createUiGuard(target, { hosts: ['ui.example'], token: null });
  await listening(open);
});
beforeEach(() => (seen = []));
afterAll(async () => {
  for (const server of [behind, guard, open]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

interface Answer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

function ask(
  path: string,
  {
    headers = {},
    method = 'GET',
    at = port,
    body,
  }: { headers?: Record<string, string>; method?: string; at?: number; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: at, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: text }),
      );
    });
    sent.once('error', reject).end(body);
  });
}

/** The complete response to bytes that no client library would send. */
async function raw(text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  let got = '';
  socket.on('data', (chunk) => (got += String(chunk)));
  await once(socket, 'close');
  return got;
}

test('a program with the token is passed on, and the token goes no further', async () => {
  const path = '/api/v1/namespaces/default/workflows/a%2Fb?x=%20y';
  const answer = await ask(path, { method: 'POST', headers: { ...bearer, cookie: 'theme=dark' }, body: 'x' });
  expect([answer.status, answer.body]).toEqual([200, 'secret']);
  expect(seen).toMatchObject([{ method: 'POST', url: path, body: 'x' }]);
  expect(seen[0]?.headers).toMatchObject({ authorization: 'none', cookie: 'theme=dark' });
  expect(JSON.stringify(seen)).not.toContain(TOKEN);
});

test('the link lets a browser in: a cookie that scripts cannot read, and the page without the token', async () => {
  const link = new URL(openingLink(`http://127.0.0.1:${port}/namespaces/default?query=a%3D1`, TOKEN));
  const welcome = await ask(link.pathname + link.search);
  expect([welcome.status, welcome.headers.location]).toEqual([303, '/namespaces/default?query=a%3D1']);
  const [cookie = ''] = welcome.headers['set-cookie'] ?? [];
  expect(cookie).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
  expect(seen).toEqual([]);
  const headers = { cookie: `${cookie.split(';')[0] ?? ''}; _csrf=x` };
  expect((await ask('/namespaces/default', { headers })).body).toBe('secret');
  expect(seen[0]?.headers.cookie).toBe('_csrf=x');
});

test.each([
  ['no token', {}],
  ['another token', { authorization: `Bearer ${TOKEN}x` }],
  ['an empty one', { authorization: 'Bearer ' }],
  ['another kind of it', { authorization: `Basic ${TOKEN}` }],
  ['a cookie of another port', { cookie: `holdfast_ui_1=${TOKEN}` }],
])('with %s nothing is passed on', async (_title, headers) => {
  for (const path of ['/', '/api/v1/settings', '/healthz', '/?holdfast_token=x']) {
    const answer = await ask(path, { headers: headers });
    expect([answer.status, answer.body]).toEqual([401, expect.stringContaining('holdfast up')]);
  }
  expect(seen).toEqual([]);
});

test.each<[string, Record<string, string>]>([
  ['a name that leads here', { host: 'evil.example' }],
  ['such a name with our port', { host: 'evil.example:PORT' }],
  ['our name with another port', { host: '127.0.0.1:1' }],
  ['our name without a port', { host: '127.0.0.1' }],
  ['a page of another origin', { origin: 'http://evil.example' }],
  ['a page of another port', { origin: 'http://127.0.0.1:1' }],
  ['a page by our other name', { origin: 'http://localhost:PORT' }],
  ['a page over TLS', { origin: 'https://127.0.0.1:PORT' }],
  ['a page without an origin', { origin: 'null' }],
  ['a request of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
  ['a request of another port', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }],
  [
    'a frame in another site',
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  ],
  ['another protocol', { connection: 'Upgrade', upgrade: 'websocket' }],
  ['HTTP/2 without TLS', { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': '' }],
])('%s is refused, with the token and the cookie too', async (_title, headers) => {
  const said = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace('PORT', String(port))]),
  );
  const cookie = `holdfast_ui_${port}=${TOKEN}`;
  for (const method of ['GET', 'POST', 'OPTIONS']) {
    const answer = await ask('/api/v1/settings', { method, headers: { ...bearer, cookie, ...said } });
    expect([answer.status, answer.body]).toEqual([403, expect.stringMatching(/^Refused: /)]);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  }
  expect(seen).toEqual([]);
});

test('a link of another site opens a page, and no part of the API', async () => {
  const cookie = `holdfast_ui_${port}=${TOKEN}`;
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  const headers = { ...link, cookie };
  expect((await ask('/namespaces', { headers })).status).toBe(200);
  expect((await ask('/api/v1/settings', { headers })).status).toBe(403);
  expect((await ask('/namespaces', { headers, method: 'POST' })).status).toBe(403);
});

test.each([
  ['no name', () => 'GET / HTTP/1.1\r\nHost:\r\n'],
  ['two names', (host: string) => `GET / HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example\r\n`],
  ['two names, ours last', (host: string) => `GET / HTTP/1.1\r\nHost: evil.example\r\nHost: ${host}\r\n`],
  ['an absolute target', (host: string) => `GET http://evil.example/ HTTP/1.1\r\nHost: ${host}\r\n`],
  ['a target that names a host', (host: string) => `GET //evil.example/ HTTP/1.1\r\nHost: ${host}\r\n`],
  ['a tunnel', (host: string) => `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n`],
])('%s in a request is refused', async (_title, head) => {
  const text = `${head(`127.0.0.1:${port}`)}Authorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`;
  expect(await raw(text)).not.toMatch(/^HTTP\/1\.1 [23]/);
  expect(seen).toEqual([]);
});

test('no page may frame what it shows, or keep hold of its window', async () => {
  const { headers } = await ask('/', { headers: bearer });
  expect(headers).toMatchObject({
    'x-frame-options': 'SAMEORIGIN',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'same-origin',
  });
});

test('if no token is required, names and pages are checked all the same', async () => {
  const at = portOf(open);
  expect((await ask('/', { at, headers: { host: 'ui.example' } })).status).toBe(200);
  expect((await ask('/', { at })).status).toBe(403);
  const headers = { host: 'ui.example', origin: 'http://evil.example' };
  expect((await ask('/', { at, headers, method: 'POST' })).status).toBe(403);
  expect(seen).toHaveLength(1);
});
