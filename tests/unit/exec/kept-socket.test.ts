// A socket of ours is made again whatever happens to its file.
import { once } from 'node:events';
import fs from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeptSocket } from '../../../exec/kept-socket';
import { until } from '../../helpers/until';

let folder: string;
let socket: KeptSocket;
const path = (): string => join(folder, 'own', 'h.sock');
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'holdfast-socket-'));
  fs.mkdirSync(join(folder, 'own'), { mode: 0o700 });
  socket = new KeptSocket(path(), (connection) => connection.end('here'));
});
afterEach(() => {
  jest.restoreAllMocks();
  socket.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

const listening = (): Promise<void> => new Promise((resolve, reject) => socket.listen(resolve, reject));
async function answers(): Promise<boolean> {
  const connection = createConnection(path());
  const said = await once(connection, 'data').catch(() => undefined);
  connection.destroy();
  return said !== undefined;
}

/** Once, as if something had removed it the moment that it was there. */
function failOnce(): jest.SpyInstance {
  return jest.spyOn(fs, 'chmodSync').mockImplementationOnce(() => {
    throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
  });
}

test('a socket that was removed, also the moment that it was made again, is made again at a later look', async () => {
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
  await listening();
  fs.rmSync(path());
  const failing = failOnce();
  socket.keep();
  await until(() => failing.mock.calls.length === 1);
  await until(async () => {
    socket.keep();
    return answers();
  });
});

test('a starter is told that a socket could not be made private', async () => {
  failOnce();
  await expect(listening()).rejects.toThrow('ENOENT');
});
