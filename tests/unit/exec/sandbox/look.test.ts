import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostLook } from '../../../../exec/sandbox/look';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-look-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the type of a path is reported without following links', () => {
  writeFileSync(join(folder, 'file'), '');
  symlinkSync(folder, join(folder, 'link'));
  const kinds = [folder, join(folder, 'file'), join(folder, 'link'), join(folder, 'none')].map(hostLook.kind);
  expect(kinds).toEqual(['folder', 'file', 'link', undefined]);
});

const isRoot = process.getuid?.() === 0;
(isRoot ? test : test.skip)(
  'what is in a closed folder of another user does not exist for root in a sandbox',
  () => {
    const closed = join(folder, 'closed');
    mkdirSync(join(closed, 'below'), { recursive: true });
    chownSync(closed, 65_534, 65_534);
    chmodSync(closed, 0o700);
    expect([closed, join(closed, 'below')].map(hostLook.kind)).toEqual(['folder', undefined]);
  },
);

test('a socket with a listener is found, even with a blank in its path', async () => {
  const path = join(folder, 'a socket');
  const server = createServer().listen(path);
  await once(server, 'listening');
  expect(hostLook.sockets()).toContain(path);
  server.close();
  await once(server, 'close');
  expect(hostLook.sockets()).not.toContain(path);
});

test('a socket bound by a relative path is found where its server is', async () => {
  const listen = "require('node:net').createServer().listen('own.sock', () => console.log('listens'))";
  const server = spawn(process.execPath, ['-e', listen], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(server.stdout, 'data');
  const seen = hostLook.sockets();
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
  expect(seen).toContain(join(folder, 'own.sock'));
});
