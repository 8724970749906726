// The proxy of a sandbox lives in a holder or in a worker: whatever a script or a far server sends, it answers or ends
// what was asked, and goes on.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { NamedHosts } from '../../../../exec/sandbox/named-hosts';
import { createProxy } from '../../../../exec/sandbox/proxy';

const FAR = '127.0.0.2';
let far: Server;
let proxy: HttpServer;
let serve: (socket: Socket) => void;
const open = new Set<Socket>();
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  far = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
    serve(socket);
  }).listen(0, FAR);
  await once(far, 'listening');
  proxy = createProxy(new NamedHosts([`${FAR}:${portOf(far)}`])).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
});
afterAll(() => {
  for (const socket of open) socket.destroy();
  far.close();
  proxy.closeAllConnections();
  proxy.close();
});

const named = (): string => `${FAR}:${portOf(far)}`;

/** The response until the connection ends. */
async function ask(request: string): Promise<string> {
  const socket = connect(portOf(proxy), '127.0.0.1').on('error', () => undefined);
  socket.write(request);
  return (await buffer(socket).catch(() => Buffer.from('reset'))).toString('latin1');
}
/** In clear; the far server says `answer` when it has read the whole head. */
function get(answer: string, { to = named(), head = '', body = '' } = {}): Promise<string> {
  serve = (socket) => {
    let got = '';
    socket.on('data', (data) => {
      got += data.toString('latin1');
      if (got.includes('\r\n\r\n')) socket.end(answer.replace('GOT', () => JSON.stringify(got)));
    });
  };
  return ask(`GET http://${to}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${head}\r\n${body}`);
}
const isWell = async (): Promise<void> =>
  expect(await get('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')).toMatch(
    /^HTTP\/1\.1 200 OK\r\n[^]*ok$/,
  );

afterEach(isWell);

test.each([
  ['a status below 100', 'HTTP/1.1 099 Odd\r\n\r\n'],
  ['no status', 'HTTP/1.1 000 Odd\r\n\r\n'],
  ['another protocol', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhi'],
  ['another protocol that it does not name', 'HTTP/1.1 101 Switching\r\n\r\n'],
  ['no HTTP', 'garbage\r\n\r\n'],
  ['nothing', ''],
])('a remote server that answers %s is reported as 502', async (_what, answer) => {
  expect(await get(answer)).toMatch(/^HTTP\/1\.1 502 /);
});

test('a reason with bytes that no reason may have is handed on without them', async () => {
  expect(await get('HTTP/1.1 200 a\x7fb\r\nContent-Length: 0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 a b\r\n/);
});

test('a user in the address changes nothing, however it is written', async () => {
  expect(await get('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', { to: `%ff:%@${named()}` })).toMatch(
    /^HTTP\/1\.1 (200|400) /,
  );
});

test('a length that a request declares as hop-by-hop is passed on: the body stays a body', async () => {
  const body = 'GET /second HTTP/1.1\r\n\r\n';
  const head = `Connection: content-length\r\nContent-Length: ${body.length}\r\n`;
  expect(await get('HTTP/1.1 200 OK\r\n\r\nGOT', { head, body })).toMatch(/content-length: 24/i);
});

test.each([
  ['a whole address', `CONNECT a:b@${FAR}:1 HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['no address', 'CONNECT :: HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a path', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['no HTTP', '\x16\x03\x01\x00garbage\r\n\r\n'],
])('%s in place of a host is reported as 400', async (_what, request) => {
  expect(await ask(request.replace('HTTP/1.1\r\n', 'HTTP/1.1\r\nConnection: close\r\n'))).toMatch(
    /^HTTP\/1\.1 400 /,
  );
});

test('a script that is gone when its tunnel is ready ends nothing else', async () => {
  const reached = new Promise<Socket>((resolve) => (serve = resolve));
  // As a socket that was reset meanwhile: nothing can be written to it any more.
  const script = new PassThrough();
  script.end();
  proxy.emit('connect', { url: named() }, script, Buffer.alloc(0));
  const socket = await reached;
  await once(socket.resume(), 'end');
  socket.end();
});

test('a tunnel carries everything that each side sends, even after the other has ended', async () => {
  const [up, down] = [randomBytes(3_000_000), randomBytes(5_000_000)];
  const sums: string[] = [];
  const sum = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
  serve = (socket) => {
    void buffer(socket).then((got) => {
      sums.push(sum(got));
      socket.end(down);
    });
  };
  const script = connect({ port: portOf(proxy), host: '127.0.0.1', allowHalfOpen: true });
  script.write(`CONNECT ${named()} HTTP/1.1\r\nHost: a\r\n\r\n`);
  const [first] = (await once(script, 'data')) as [Buffer];
  expect(first.toString()).toBe('HTTP/1.1 200 Connection established\r\n\r\n');
  script.end(up);
  sums.push(sum(await buffer(script)));
  expect(sums).toEqual([sum(up), sum(down)]);
});
