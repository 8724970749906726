// X4: a sandbox that names hosts reaches these and nothing else, by the variables that programs know.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { noSandbox } from '../../../helpers/hosts/sandbox';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { hostOfUser, noHostOfUser, NOBODY, USER_SESSION } from './host-of-user';
import { childrenOf } from '../../../../system/processes/proc';
import { endWithoutTrace, eventually, holderOf, linksOf, otherSession, reset } from '../session-processes';

/** An address of this machine that no program takes for a reason to leave out its proxy. */
const FAR = '127.0.0.2';
const missing = noSandbox();
const whereSandboxed = missing === undefined ? describe : describe.skip;

/** Python with all its output on one line. */
const python = (...lines: string[]): string =>
  `python3 - <<'END'\nimport socket\nimport urllib.request as web\n${lines.join('\n')}\nEND`;
const get = (url: string): string =>
  python('try:', `  print(web.urlopen('${url}').read().decode())`, 'except Exception as e: print(e)');
/** Through the tunnel that programs ask for when they speak TLS. */
const tunnel = (host: string, port: number): string =>
  python(
    'import http.client',
    "way = http.client.HTTPConnection('127.0.0.1', 3128)",
    `way.set_tunnel('${host}', ${port})`,
    'try:',
    "  way.request('GET', '/tunnel')",
    '  print(way.getresponse().read().decode())',
    'except Exception as e: print(e)',
  );
const direct = (host: string, port: number): string =>
  python(
    'try:',
    `  socket.create_connection(('${host}', ${port}), 5)`,
    "  print('reached')",
    'except Exception as e: print(e)',
  );

whereSandboxed(`with named hosts${missing === undefined ? '' : ` (not checked: ${missing})`}`, () => {
  const asked: string[] = [];
  const servers: Server[] = [];
  let named: number;
  let other: number;
  let t: TestHost;

  async function serve(): Promise<number> {
    const server = createServer((request: IncomingMessage, response) => {
      asked.push(`${request.method} ${request.headers.host}${request.url}`);
      response.end(`found ${request.url}`);
    }).listen(0, FAR);
    servers.push(server);
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }
  beforeAll(async () => {
    [named, other] = [await serve(), await serve()];
    t = testHost({ sandbox: { network: [`${FAR}:${named}`, 'localhost'] } });
  });
  beforeEach(() => void asked.splice(0));
  afterEach(() => reset(t));
  afterAll(async () => {
    await endWithoutTrace(t);
    for (const server of servers) server.close();
  });

  test('a named host is reached in plaintext, through a tunnel, and by Node', async () => {
    const url = `http://${FAR}:${named}`;
    expect((await t.run(get(`${url}/clear?a=1`))).output).toBe('found /clear?a=1\n');
    expect((await t.run(tunnel(FAR, named))).output).toBe('found /tunnel\n');
    const fetched = `'${process.execPath}' -e "fetch('${url}/node').then((r) => r.text()).then(console.log)"`;
    expect((await t.run(fetched)).output).toBe('found /node\n');
    expect(asked).toEqual(['clear?a=1', 'tunnel', 'node'].map((path) => `GET ${FAR}:${named}/${path}`));
  });

  test('an unnamed host is refused with the reason, in plaintext and through a tunnel, and never contacted', async () => {
    const reason = `${FAR}:${other} is not among the hosts of this sandbox (${FAR}:${named}, localhost)`;
    expect((await t.run(get(`http://${FAR}:${other}/`))).output).toContain(`403: ${reason}`);
    expect((await t.run(tunnel(FAR, other))).output).toContain(`403 ${reason}`);
    expect((await t.run(tunnel('localhost', 80))).output).toMatch(
      /403 .*to allow such a host, name it with its port/,
    );
    expect(asked).toEqual([]);
  });

  test('nothing is reached past the proxy, not even named hosts, and no name is resolved', async () => {
    expect((await t.run(direct(FAR, named))).output).toMatch(/refused|unreachable/);
    expect((await t.run(direct('example.org', 443))).output).toMatch(/resolution|known|failure/);
    expect(asked).toEqual([]);
  });

  test('the requested host is that of the address, whatever else the request says', async () => {
    const raw = `GET http://${FAR}:${named}/raw HTTP/1.1\\r\\nHost: ${FAR}:${other}\\r\\nConnection: close\\r\\n\\r\\n`;
    const code = python(
      "way = socket.create_connection(('127.0.0.1', 3128))",
      `way.sendall(b'${raw}')`,
      'print(way.recv(9999).decode().splitlines()[0])',
    );
    expect((await t.run(code)).output).toBe('HTTP/1.1 200 OK\n');
    expect(asked).toEqual([`GET ${FAR}:${named}/raw`]);
  });

  test('anything that is not a proxy request is answered and ends nothing', async () => {
    const send = (bytes: string): string =>
      python(
        "way = socket.create_connection(('127.0.0.1', 3128))",
        `way.sendall(b'${bytes}')`,
        'print(way.recv(99)[:12])',
      );
    expect((await t.run(send('GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n'))).output).toContain('HTTP/1.1 400');
    expect((await t.run(send('CONNECT a@b:1/ HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n'))).output).toContain(
      'HTTP/1.1 400',
    );
    // Answered or not: the connection is not reset.
    expect(await t.run(send('\\x16\\x03\\x01\\x00garbage\\r\\n\\r\\n'))).toMatchObject({ exitCode: 0 });
    expect((await t.run(get(`http://${FAR}:${named}/on`))).output).toBe('found /on\n');
  });

  test('each session has a loopback of its own', async () => {
    const ref = otherSession(t, 7);
    const listen = `'${process.execPath}' -e "require('net').createServer().listen(5555, '127.0.0.1', () => console.log('listens'))" & sleep 0.1; until grep -q ':15B3 ' /proc/net/tcp; do sleep 0.02; done`;
    await t.run(listen);
    expect((await t.run(direct('127.0.0.1', 5555))).output).toContain('reached');
    expect((await t.run(direct('127.0.0.1', 5555), { ref })).output).toContain('refused');
  });

  test('a fresh shell after a reset reaches it, and the network costs the holder no process', async () => {
    await t.run('true');
    const holder = holderOf(t);
    const count = (): number[] => [childrenOf(holder).length, linksOf(holder).length];
    // What puts the terminal's settings back behind a command is there for a moment.
    const before = await eventually(count, ([children]) => children === 1);
    await reset(t);
    expect((await t.run(get(`http://${FAR}:${named}/after`))).output).toBe('found /after\n');
    const after = await eventually(count, (now) => now.every((n, i) => n <= (before[i] ?? 0)));
    // Fewer is no leak: the pipes of a child outlive it by a moment.
    expect(after.every((n, i) => n <= (before[i] ?? 0)) ? before : after).toEqual(before);
    // Only the shell.
    expect(childrenOf(holder)).toHaveLength(1);
  });
});

const missingUser = noHostOfUser() ?? missing;
(missingUser === undefined ? test : test.skip)(
  `nobody reaches what is named, and nothing else${missingUser === undefined ? '' : ` (not checked: ${missingUser})`}`,
  async () => {
    const server = createServer((_, response) => response.end('found')).listen(0, FAR);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const host = hostOfUser(undefined, '/nonexistent', { network: [`${FAR}:${port}`] });
    const file = `${host.cwd}/out`;
    await host.call('run', USER_SESSION, {
      id: 'c',
      runtime: 'terminal',
      code: `{ id -u; ${get(`http://${FAR}:${port}/`)}\n${direct(FAR, port)}\n} > ${file}`,
    });
    await host.call('observe', USER_SESSION, { kind: 'exit', from: 0, timeoutMs: 20_000 });
    expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^${NOBODY}\nfound\n.*refused`));
    await host.end();
    server.close();
  },
);
