import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { BROWSER_BLOCKED_PORTS } from '../../../engine/ui-guard/browser-ports';
import { chooseHiddenPorts, choosePorts, isPortFree } from '../../../engine/ports';

let taken: Server;
let takenPort: number;
let freePorts: { port: number; uiPort: number };

async function listen(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

beforeEach(async () => {
  taken = await listen();
  takenPort = portOf(taken);
  const servers = await Promise.all([listen(), listen()]);
  const [port, uiPort] = servers.map(portOf) as [number, number];
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  freePorts = { port, uiPort };
});
afterEach(() => new Promise((resolve) => taken.close(resolve)));

test('the ports of the previous server are reused while they are free', async () => {
  expect(await choosePorts({}, freePorts)).toEqual(freePorts);
});

test('a previous port that another program has now is replaced by a free one, and only that one', async () => {
  const chosen = await choosePorts({}, { ...freePorts, uiPort: takenPort });
  expect(chosen).toEqual({ ...freePorts, uiPort: expect.any(Number) as number });
  expect(chosen.uiPort).not.toBe(takenPort);
  expect(await isPortFree(chosen.uiPort)).toBe(true);
});

test('a named port takes precedence over the previous one', async () => {
  const { port } = await choosePorts({ port: freePorts.uiPort }, { port: freePorts.port });
  expect(port).toBe(freePorts.uiPort);
});

test('no port is chosen twice, even if one is named that another usually has', async () => {
  const chosen = await choosePorts({ uiPort: freePorts.port }, freePorts);
  const { httpPort, metricsPort } = await chooseHiddenPorts(chosen);
  expect(new Set([chosen.port, chosen.uiPort, httpPort, metricsPort]).size).toBe(4);
});

test('the server’s own web UI gets a port that browsers do not connect to, apart from what people are told', async () => {
  const { ui } = await chooseHiddenPorts(freePorts);
  expect(BROWSER_BLOCKED_PORTS).toContain(ui.port);
  expect(ui.address).toMatch(/^127\./);
  expect(await isPortFree(ui.port, ui.address)).toBe(true);
});

test.each(['port', 'uiPort'] as const)('a named %s that is taken is refused as port_in_use', async (key) => {
  await expect(choosePorts({ [key]: takenPort }, freePorts)).rejects.toMatchObject({
    code: 'port_in_use',
    facts: { got: takenPort },
    // What is to be left out is the option that named it.
    next: expect.stringContaining(`Omit ${{ port: '--port', uiPort: '--ui-port' }[key]} to`) as string,
  });
});
