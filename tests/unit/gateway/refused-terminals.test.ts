// What a terminal's client can still do after it is refused, for example because its token was revoked, or the gateway ends.
import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { WebSocket } from 'ws';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { RemoteTerminal } from '../../../exec/attach/remote-terminal';
import { HolderGone } from '../../../exec/client/holder-client';
import type { Caller } from '../../../gateway/access/grants';
import type { GatewayContext } from '../../../gateway/gateway-context';
import { TerminalConnection } from '../../../gateway/terminals/terminal-connection';
import { serveTerminals } from '../../../gateway/terminals/terminal-server';
import { until } from '../../helpers/until';

const ref = { agent: 'a', host: 'far', session: 0 };
const PATH = '/v1/sessions/a/far/0/terminal';
const caller: Caller = { id: 'o', name: 'o', role: 'operator', agents: ['*'], expiresAt: null };
const revoked = new HoldfastError('access_needed', { reason: 'it was revoked' });

/** A terminal on a host, in which a command runs. */
class FarTerminal {
  readonly typed: string[] = [];
  isClosed = false;
  /** Held back by the test, as by a host that is slow. */
  typing: Promise<void> = Promise.resolve();
  private leave = (): void => undefined;
  private readonly gone = new Promise<never>((_, reject) => {
    this.leave = () => reject(new HolderGone('closed'));
  });

  readonly context = {
    dataDir: '/nonexistent',
    isLocal: () => false,
    isElsewhere: () => false,
    hostToken: 'x',
    client: { hosts: { state: () => Promise.resolve({ status: 'online', facts: { listens: {} } }) } },
    tokens: { callerWith: () => (this.isAllowed ? { ...caller, role: this.role } : undefined) },
    oidc: null,
    audit: { write: (line: object) => void this.audited.push(line) },
  } as unknown as GatewayContext;
  isAllowed = true;
  role: Caller['role'] = 'operator';
  readonly audited: object[] = [];
  readonly opening: jest.SpyInstance;

  constructor() {
    this.gone.catch(() => undefined);
    this.opening = jest.spyOn(RemoteTerminal, 'open').mockResolvedValue(this as unknown as RemoteTerminal);
  }

  readonly ask = async (verb: string, { bytes = '' }: { bytes?: string }): Promise<unknown> => {
    const size = { cols: 80, rows: 24 };
    if (verb === 'attach') return { end: 0, epoch: 1, running: 'c', typist: null, size };
    if (verb === 'watch') return this.gone;
    this.typed.push(Buffer.from(bytes, 'base64').toString('utf8'));
    await this.typing;
    return { typed: true };
  };

  readonly close = (): void => {
    this.isClosed = true;
    this.leave();
  };
}

const hello = { kind: 'hello', from: 0, cols: 80, rows: 24, types: true };
const input = (text: string): object => ({
  ...{ kind: 'input', id: text.padEnd(16, '-'), data: Buffer.from(text).toString('base64') },
});

/** Masked with zeros: the text as it is. */
function frame(message: object): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]);
}

/** A client that answers no close, and keeps what it is sent. */
class StubbornClient {
  said = '';
  isClosed = false;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (data) => (this.said += data.toString('latin1')));
    socket.on('error', () => undefined).on('close', () => (this.isClosed = true));
  }

  static open(port: number): StubbornClient {
    const client = new StubbornClient(connect(port, '127.0.0.1'));
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const access = [`Sec-WebSocket-Key: ${'a'.repeat(22)}==`, 'Authorization: Bearer x'];
    const lines = [`GET ${PATH} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...upgrade, ...access, '', ''];
    client.socket.write(lines.join('\r\n'));
    return client;
  }

  send(message: object): void {
    this.socket.write(frame(message));
  }

  leave(): void {
    this.socket.destroy();
  }
}

/** With a client that has connected. */
async function served({ context }: FarTerminal): Promise<{
  server: Server;
  close: () => void;
  client: StubbornClient;
}> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = serveTerminals(server, context, { hosts: [`127.0.0.1:${port}`] });
  return { server, close, client: StubbornClient.open(port) };
}

/** Without a network: what the connection does with its client is up to the test. */
function connected({ context }: FarTerminal): {
  client: Record<'send' | 'close' | 'terminate', jest.Mock>;
  connection: TerminalConnection;
  say: (message: object) => void;
} {
  const calls = { send: jest.fn(), close: jest.fn(), terminate: jest.fn() };
  const client = Object.assign(new EventEmitter(), calls);
  const connection = new TerminalConnection(client as unknown as WebSocket, ref, {
    ...{ context, caller, audit: () => undefined },
  });
  const say = (message: object): void =>
    void client.emit('message', Buffer.from(JSON.stringify(message)), false);
  return { client, connection, say };
}

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

test('a client whose token is revoked types nothing more, and loses a connection that it does not close', async () => {
  const terminal = new FarTerminal();
  const { server, close, client } = await served(terminal);
  try {
    client.send(hello);
    client.send(input('before'));
    await until(() => client.said.includes('"typed":true'));
    terminal.isAllowed = false;
    await until(() => client.said.includes('"refused"'));
    expect(terminal.isClosed).toBe(true);
    await until(() => (client.send(input('after')), client.isClosed), 5_000);
    expect(terminal.typed).toEqual(['before']);
    expect(client.said).not.toContain('"ended"');
  } finally {
    client.leave();
    close();
    server.close();
  }
}, 30_000);

test('a gateway that ends waits only a few seconds for a client that answers no close', async () => {
  const { server, close, client } = await served(new FarTerminal());
  client.send(hello);
  await until(() => client.said.includes('"state"'));
  close();
  server.close();
  try {
    await until(() => client.isClosed, 5_000);
  } finally {
    client.leave();
  }
}, 30_000);

test('what waits to be typed when its client is refused is not typed, and nothing is said of it', async () => {
  const terminal = new FarTerminal();
  let goOn = (): void => undefined;
  terminal.typing = new Promise((resolve) => (goOn = resolve));
  const { client, connection, say } = connected(terminal);
  say(hello);
  say(input('first'));
  say(input('second'));
  await until(() => terminal.typed.length > 0);
  connection.refuse(revoked);
  goOn();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(terminal.typed).toEqual(['first']);
  expect(client.send).toHaveBeenLastCalledWith(expect.stringContaining('"refused"'), expect.any(Function));
});

test('a client that is refused before it says hello gets no terminal', async () => {
  const terminal = new FarTerminal();
  const { connection, say } = connected(terminal);
  connection.refuse(revoked);
  say(hello);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(terminal.opening).not.toHaveBeenCalled();
});

/** 53 KiB, as it comes. */
const large = (n: number): object => ({
  ...input(`${n}-`.padEnd(40_000, 'x')),
  id: `number-${n}`.padEnd(16, '-'),
});

test('a megabyte may wait to be typed, more is refused, and what was typed counts no longer', async () => {
  const reached = new FarTerminal();
  const typist = connected(reached);
  typist.say(hello);
  for (let n = 0; n < 40; n++) {
    typist.say(large(n));
    if (n % 10 === 9) await until(() => reached.typed.length === n + 1);
  }
  const refusal = expect.stringContaining('"refused"') as string;
  expect(typist.client.send).not.toHaveBeenCalledWith(refusal, expect.any(Function));
  const far = new FarTerminal();
  far.opening.mockReturnValue(new Promise(() => undefined));
  const { client, say } = connected(far);
  say(hello);
  let kept = 0;
  while (client.send.mock.calls.length === 0 && kept < 40) say(large(kept++));
  expect(kept).toBe(20);
  const [[said] = []] = client.send.mock.calls as [string][];
  expect(JSON.parse(said ?? '')).toMatchObject({ kind: 'refused', problem: { code: 'input_queue_full' } });
  expect(client.send).toHaveBeenCalledTimes(1);
});

test('what a watcher types before the terminal is reached is kept nowhere', () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const used = (): number => (gc(), process.memoryUsage().heapUsed);
  const terminal = new FarTerminal();
  terminal.opening.mockReturnValue(new Promise(() => undefined));
  const { client, connection, say } = connected(terminal);
  say({ ...hello, types: false });
  const before = used();
  for (let n = 0; n < 400; n++) say(large(n));
  expect(used() - before).toBeLessThan(5_000_000);
  expect(client.send).not.toHaveBeenCalled();
  connection.close();
});

test('a refused client that does not even read loses its connection, too', () => {
  jest.useFakeTimers();
  const { client, connection } = connected(new FarTerminal());
  connection.refuse(revoked);
  jest.advanceTimersByTime(5_000);
  // The refusal is still on its way.
  expect(client.close).not.toHaveBeenCalled();
  expect(client.terminate).toHaveBeenCalled();
});

const line = {
  ...{ who: 'o', name: 'o', from: '127.0.0.1', status: 101 },
  what: 'GET /v1/sessions/{agent}/{host}/{session}/terminal',
  path: PATH,
};
test.each<[string, { said?: object; role?: Caller['role']; isAllowed?: boolean }, object[]]>([
  ['who types at it', {}, [line]],
  ['whose role must not type', { role: 'viewer' }, [{ ...line, status: 403, code: 'access_denied' }]],
  [
    'without a token that holds',
    { isAllowed: false },
    [{ ...line, who: null, name: null, status: 401, code: 'access_needed' }],
  ],
  ['who only watches', { said: { ...hello, types: false }, role: 'viewer' }, []],
])(
  'the audit log says of a terminal’s client %s what became of it',
  async (_who, given, lines) => {
    const { said = hello, ...facts } = given;
    const terminal = Object.assign(new FarTerminal(), facts);
    const { server, close, client } = await served(terminal);
    try {
      client.send(said);
      client.send(input('secret'));
      await until(() => /"(?:state|refused)"/.test(client.said));
      expect(terminal.audited).toEqual(lines);
    } finally {
      client.leave();
      close();
      server.close();
    }
  },
  30_000,
);
