// Where a worker takes connections for files, when the system or somebody else takes away what it needs.
import child, { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AuditLog } from '../../../../exec/host/audit-log';
import { HostAccess } from '../../../../exec/host/host-access';
import { pathOf } from '../../../../exec/transfer/names';
import { openFiles } from '../../../../exec/transfer/door/files-client';
import { FilesDoor, filesSocket } from '../../../../exec/transfer/door/files-door';
import { FilesHost } from '../../../../exec/transfer/door/files-host';
import { holdLock } from '../../../../system/lock';
import { until } from '../../../helpers/until';

let dataDir: string;
let door: FilesDoor;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-door-'));
  const audit = new AuditLog(dataDir, 'local', () => undefined);
  const access = new HostAccess(dataDir, 'local');
  const options = { host: 'local', cwd: dataDir, env: {}, sandboxOf: () => undefined };
  door = new FilesDoor({ dataDir, host: 'local', files: new FilesHost({ ...options, access, audit }) });
  await door.open();
  // As without file descriptors: no pipes, and an error soon after.
  jest.spyOn(child, 'spawn').mockImplementation(() => {
    const started = new ChildProcess();
    process.nextTick(() => started.emit('error', new Error('spawn EMFILE')));
    return started;
  });
});
afterEach(() => {
  jest.restoreAllMocks();
  door.close();
  rmSync(dataDir, { recursive: true });
});

async function ask(path = 'file', base: string | null = null): Promise<unknown> {
  const request = { is: 'get', path: pathOf(path), base: base === null ? null : pathOf(base) } as const;
  const channel = await openFiles({ dataDir }, { agent: 'a', host: 'local', request });
  try {
    return await channel.next();
  } finally {
    channel.close();
  }
}

test('a client is told that there are no file descriptors for its copy, however often it tries, and the worker lives', async () => {
  // More than may be open at a time.
  for (let copy = 0; copy < 20; copy++)
    await expect(ask()).rejects.toMatchObject({ code: 'resources_exhausted' });
});

test.each([
  ['hostname', '/etc', () => '/etc/hostname'],
  ['../../etc/hostname', 'sub', () => join(dataDir, 'sub') + '/../../etc/hostname'],
  ['/etc/hostname', '/home', () => '/etc/hostname'],
  ['file', null, () => join(dataDir, 'file')],
])('the audit log names the file that is asked for: %s in %s', async (path, base, file) => {
  await ask(path, base).catch(() => undefined);
  const [line = ''] = readFileSync(join(dataDir, 'audit.local.jsonl'), 'utf8').trim().split('\n');
  expect(JSON.parse(line)).toMatchObject({ what: 'readFiles', outcome: 'approved', path: file() });
});

test('a socket that a cleaner has removed is made again, and copies go on', async () => {
  const path = filesSocket(dataDir, 'local');
  rmSync(path);
  await expect(ask()).rejects.toMatchObject({ code: 'files_unreachable' });
  await until(() => existsSync(path));
  await expect(ask()).rejects.toMatchObject({ code: 'resources_exhausted' });
});

test.each(['worker.local.lock', 'worker.lock'])(
  'a copy waits for a worker that holds %s and takes no connections yet',
  async (lock) => {
    door.close();
    await expect(ask()).rejects.toMatchObject({
      facts: { reason: 'its worker does not run on this machine' },
    });
    const release = await holdLock(join(dataDir, lock));
    const asked = ask();
    await delay(300);
    await door.open();
    await expect(asked).rejects.toMatchObject({ code: 'resources_exhausted' });
    release();
  },
);
