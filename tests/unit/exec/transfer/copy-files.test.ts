// Copies of a program, with a host's door in this process.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HostFiles } from '../../../../exec/transfer/door/copy-files';
import { filesSocket } from '../../../../exec/transfer/door/files-door';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'holdfast-copies-'))));
afterEach(() => rmSync(root, { recursive: true }));

test('an abort while a copy connects to the host ends it, and its connection', async () => {
  writeFileSync(join(root, 'file'), 'x');
  const door = createServer().listen(filesSocket(root, 'far'));
  await once(door, 'listening');
  try {
    const aborted = new AbortController();
    const { signal } = aborted;
    const copied = new HostFiles('far', { dataDir: root }).copyIn(
      join(root, 'file'),
      { agent: 'a', path: '' },
      { signal },
    );
    const [socket] = (await once(door, 'connection')) as [Socket];
    await once(socket, 'data');
    aborted.abort(new Error('enough'));
    socket.write('{"ok":true}\n');
    const closed = once(socket.resume(), 'close');
    await expect(copied).rejects.toThrow('enough');
    await closed;
  } finally {
    door.close();
  }
});
