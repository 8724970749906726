// How many connections a host keeps, and how those end whose other side is gone.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { CROWD_MS, KEEP_ALIVE_MS, KnownConnections } from '../../../../exec/attach/known-connections';

const server = createServer();
const sockets: Socket[] = [];
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

async function connection(): Promise<{ socket: Socket; asked: jest.SpyInstance }> {
  const { port } = server.address() as AddressInfo;
  const arrived = once(server, 'connection');
  sockets.push(connect(port, '127.0.0.1'));
  const [socket] = (await arrived) as [Socket];
  sockets.push(socket);
  return { socket, asked: jest.spyOn(socket, 'setKeepAlive') };
}

test('the kernel asks each connection now and then whether its other side is there, and at the limit at once', async () => {
  const known = new KnownConnections(2);
  const [first, second, third] = [await connection(), await connection(), await connection()];
  for (const { socket, asked } of [first, second]) {
    expect(known.admit(socket)).toBe(true);
    expect(asked.mock.calls).toEqual([[true, KEEP_ALIVE_MS]]);
  }
  expect(known.admit(third.socket)).toBe(false);
  for (const { socket, asked } of [first, second]) {
    expect(asked).toHaveBeenLastCalledWith(true, 1_000);
    expect(socket.destroyed).toBe(false);
  }
  const closed = once(first.socket, 'close');
  first.socket.destroy();
  await closed;
  expect(known.admit(third.socket)).toBe(true);
});

test('a minute after the last refusal the kernel asks as seldom as before: a laptop may sleep again', async () => {
  const known = new KnownConnections(1);
  const [first, second] = [await connection(), await connection()];
  known.admit(first.socket);
  jest.useFakeTimers();
  try {
    known.admit(second.socket);
    jest.advanceTimersByTime(CROWD_MS - 1);
    known.admit(second.socket);
    jest.advanceTimersByTime(CROWD_MS - 1);
    expect(first.asked).toHaveBeenLastCalledWith(true, 1_000);
    jest.advanceTimersByTime(1);
    expect(first.asked).toHaveBeenLastCalledWith(true, KEEP_ALIVE_MS);
  } finally {
    jest.useRealTimers();
  }
});
