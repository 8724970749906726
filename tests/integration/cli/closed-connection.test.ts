// A client that is closed while its server is away, as `holdfast down` leaves long-lived programs.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';
import { testAddress } from '../../helpers/engines/temporal';

/** Its way to the server is cut, so that a request is being repeated when the client is closed. */
const program = (connect: string): string => `
const net = require('node:net');
const [dist, server] = process.argv.slice(1);
const [host, port] = server.split(':');
const sockets = new Set();
const way = net.createServer((socket) => {
  const far = net.connect(Number(port), host);
  for (const one of [socket, far]) sockets.add(one.on('error', () => undefined));
  socket.pipe(far).pipe(socket);
});
way.listen(0, '127.0.0.1', async () => {
  const address = '127.0.0.1:' + way.address().port;
  const client = await (${connect});
  await client.workflowService.getSystemInfo({});
  way.close();
  for (const socket of sockets) socket.destroy();
  const ended = client.workflowService.getSystemInfo({}).catch((err) => err);
  // In the pause before a repetition, which gets longer each time.
  setTimeout(async () => {
    await client.connection.close();
    console.log((await ended).code);
  }, 1_000);
});`;

const WAYS = {
  'a client': `require(dist + '/client/connect').connectTemporal({ address, namespace: 'default' })`,
  'a test environment’s connection, made by the SDK,': `(async () => {
    const { Client, Connection } = require('@temporalio/client');
    const connection = await Connection.connect({ address });
    require(dist + '/client/delivery/closed-connection').makeClosable(connection);
    return new Client({ connection });
  })()`,
};

test.each(Object.entries(WAYS))(
  '%s that is closed while a request is repeated ends the request, and throws where nobody catches nothing',
  async (_what, connect) => {
    const args = ['-e', program(connect), join(packageRoot(), 'dist'), testAddress()];
    const ended = await new Promise<object>((resolve) =>
      execFile(process.execPath, args, { cwd: packageRoot() }, (err, stdout, stderr) =>
        resolve({ failed: err !== null, stdout, stderr }),
      ),
    );
    expect(ended).toEqual({ failed: false, stdout: '1\n', stderr: '' });
  },
  60_000,
);
