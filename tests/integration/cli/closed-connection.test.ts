// A client that is closed while its server is away, as `holdfast down` leaves long-lived programs.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';
import { testAddress } from '../../helpers/temporal';

/** Its way to the server is cut, so that a request is being repeated when the client is closed. */
const PROGRAM = `
const net = require('node:net');
const { HoldfastClient } = require(process.argv[1]);
const [host, port] = process.argv[2].split(':');
const sockets = new Set();
const way = net.createServer((socket) => {
  const far = net.connect(Number(port), host);
  for (const one of [socket, far]) sockets.add(one.on('error', () => undefined));
  socket.pipe(far).pipe(socket);
});
way.listen(0, '127.0.0.1', async () => {
  const client = await HoldfastClient.connect({ address: '127.0.0.1:' + way.address().port }, {});
  await client.temporal.workflowService.getSystemInfo({});
  way.close();
  for (const socket of sockets) socket.destroy();
  const ended = client.temporal.workflowService.getSystemInfo({}).catch((err) => err);
  // In the pause before a repetition, which gets longer each time.
  setTimeout(async () => {
    await client.close();
    console.log((await ended).code);
  }, 1_000);
});`;

test('a client that is closed while a request is repeated ends the request, and throws where nobody catches nothing', async () => {
  const entry = join(packageRoot(), 'dist', 'client', 'holdfast-client.js');
  const ended = await new Promise<object>((resolve) =>
    execFile(process.execPath, ['-e', PROGRAM, entry, testAddress()], (err, stdout, stderr) =>
      resolve({ failed: err !== null, stdout, stderr }),
    ),
  );
  expect(ended).toEqual({ failed: false, stdout: '1\n', stderr: '' });
}, 60_000);
