// The limit of requests, where this process itself was too busy to read.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { limitRequests } from '../../../gateway/http/limit-requests';

const LIMIT_MS = 200;

/** Blocks everything that this process does. */
const beBusy = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test.each(['POST', 'PUT'])(
  'a %s that arrived while this process was busy is not too slow, however long that took',
  async (method) => {
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.end('all'));
    });
    limitRequests(server, LIMIT_MS);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const answer = text(client);
    client.write(`${method} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\n`);
    const [request] = (await once(server, 'request')) as [IncomingMessage];
    expect(request.complete).toBe(false);
    client.write('body');
    beBusy(2 * LIMIT_MS);
    expect(await answer).toMatch(/^HTTP\/1.1 200[^]*all/);
    server.close();
  },
);
