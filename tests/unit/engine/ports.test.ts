import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { choosePorts, isPortFree } from '../../../engine/ports';

let taken: Server;
let takenPort: number;
let freePorts: { port: number; uiPort: number; httpPort: number };

async function listen(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

beforeEach(async () => {
  taken = await listen();
  takenPort = portOf(taken);
  const servers = await Promise.all([listen(), listen(), listen()]);
  const [port, uiPort, httpPort] = servers.map(portOf) as [number, number, number];
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  freePorts = { port, uiPort, httpPort };
});
afterEach(() => new Promise((resolve) => taken.close(resolve)));

test('the ports of the server before are taken again while they are free', async () => {
  expect(await choosePorts({}, freePorts)).toEqual(freePorts);
});

test('a port of before that somebody else has now is replaced by a free one, and only that', async () => {
  const chosen = await choosePorts({}, { ...freePorts, uiPort: takenPort });
  expect(chosen).toEqual({ ...freePorts, uiPort: expect.any(Number) as number });
  expect(chosen.uiPort).not.toBe(takenPort);
  expect(await isPortFree(chosen.uiPort)).toBe(true);
});

test('a named port wins over the one of before', async () => {
  const { port } = await choosePorts({ port: freePorts.httpPort }, freePorts);
  expect(port).toBe(freePorts.httpPort);
});

test('no port is chosen twice, even if one is named that another usually has', async () => {
  const chosen = await choosePorts({ uiPort: freePorts.port }, freePorts);
  expect(new Set(Object.values(chosen)).size).toBe(3);
});

test.each(['port', 'uiPort'] as const)('a named %s that is taken is refused as port_in_use', async (key) => {
  await expect(choosePorts({ [key]: takenPort }, freePorts)).rejects.toMatchObject({
    code: 'port_in_use',
    facts: { got: takenPort },
  });
});
