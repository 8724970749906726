// Who gets a place among the terminals of a gateway.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import WebSocket from 'ws';
import type { FromServer } from '../../../contracts/gateway/terminal';
import { TERMINAL_PROTOCOL } from '../../../contracts/gateway/terminal';
import type { Caller } from '../../../gateway/access/grants';
import type { GatewayContext } from '../../../gateway/gateway-context';
import { serveTerminals } from '../../../gateway/terminals/terminal-server';

const PATH = '/v1/sessions/a/local/0/terminal';
const STRANGERS = 1_100;

test('strangers who stay after they are refused take no place of others', async () => {
  const viewer: Caller = { id: 'v', name: 'v', role: 'viewer', agents: ['*'], expiresAt: null };
  const context = {
    dataDir: '/nonexistent',
    isLocal: () => true,
    isElsewhere: () => false,
    tokens: { callerWith: (token: string) => (token === 'good' ? viewer : undefined) },
    oidc: null,
    audit: { write: () => undefined },
  } as unknown as GatewayContext;
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  const close = serveTerminals(server, context, { hosts: [host] });
  const strangers: Socket[] = [];
  try {
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const key = `Sec-WebSocket-Key: ${'a'.repeat(22)}==`;
    const asked = [`GET ${PATH} HTTP/1.1`, `Host: ${host}`, ...upgrade, key, '', ''].join('\r\n');
    for (let n = 0; n < STRANGERS; n++) {
      const socket = connect(port, '127.0.0.1');
      strangers.push(socket);
      socket.write(asked);
      // It has its refusal, and does not answer that.
      await once(socket, 'data');
    }
    const headers = { Authorization: 'Bearer good' };
    const client = new WebSocket(`ws://${host}${PATH}`, TERMINAL_PROTOCOL, { headers });
    client.once('open', () =>
      client.send(JSON.stringify({ kind: 'hello', from: null, cols: 80, rows: 24, types: false })),
    );
    const [data] = (await once(client, 'message')) as [Buffer];
    // There is no such session: it was looked for.
    const said = JSON.parse(data.toString('utf8')) as FromServer;
    expect(said).toMatchObject({ kind: 'refused', problem: { code: 'not_found' } });
    client.terminate();
  } finally {
    for (const socket of strangers) socket.destroy();
    close();
    server.close();
  }
}, 60_000);
