// What a host's small files mean when a full disk or a power failure has left only part of them.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { attachToken } from '../../../exec/attach/attach-keys';
import { dataFolderId } from '../../../exec/host/data-folder';
import { HostAccess } from '../../../exec/host/host-access';

let data: string;
beforeEach(() => (data = fs.mkdtempSync(join(tmpdir(), 'holdfast-damaged-'))));
afterEach(() => {
  jest.restoreAllMocks();
  fs.rmSync(data, { recursive: true, force: true });
});

const leave = (name: string, text: string): void => fs.writeFileSync(join(data, name), text);
const full = (): never => {
  throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' });
};

/** A disk that takes names, but no content. */
function fillDisk(): void {
  const write = fs.writeFileSync;
  jest.spyOn(fs, 'writeFileSync').mockImplementationOnce((path, _data, options) => {
    write(path, '', options);
    full();
  });
}

const DAMAGED = ['', '{"access":', 'null', '"off"', '{"access":"any"}'];

test.each(DAMAGED)('a host whose access file is damaged (%j) is closed', (left) => {
  const access = new HostAccess(data, 'local');
  expect(access.current).toBe('read-write');
  leave('access.local.json', left);
  expect(access.current).toBe('off');
  access.set('read-only');
  expect(access.current).toBe('read-only');
});

test('the access that an operator sets is on the disk before the call returns', () => {
  const flushed: string[] = [];
  const flush = fs.fsyncSync;
  jest.spyOn(fs, 'fsyncSync').mockImplementation((fd) => {
    flushed.push(fs.readlinkSync(`/proc/self/fd/${fd}`));
    flush(fd);
  });
  new HostAccess(data, 'local').set('off');
  const file = join(data, 'access.local.json');
  expect(flushed).toEqual([`${file}.${process.pid}.tmp`, data]);
});

test('a full disk leaves no token that admits nobody', () => {
  fillDisk();
  expect(failureOf(() => attachToken(data, 'pi')).code).toBe('storage_failed');
  expect(fs.readdirSync(data)).toEqual([]);
  expect(attachToken(data, 'pi')).toMatch(/^[\w-]{43}$/);
});

test('an empty token is made again, once', () => {
  leave('attach.pi.token', '\n');
  const made = attachToken(data, 'pi');
  expect(made).toMatch(/^[\w-]{43}$/);
  expect(attachToken(data, 'pi')).toBe(made);
  expect(fs.statSync(join(data, 'attach.pi.token')).mode & 0o777).toBe(0o600);
});

test.each(['', '{"id":', 'null', '{}'])(
  'a damaged folder id (%j) is told with its file, and kept',
  (left) => {
    leave('folder.json', left);
    const failure = failureOf(() => dataFolderId(data));
    expect(failure.code).toBe('storage_failed');
    expect(failure.message).toContain(join(data, 'folder.json'));
    expect(failure.next).toMatch(/backup, or remove it/);
    expect(fs.readFileSync(join(data, 'folder.json'), 'utf8')).toBe(left);
  },
);

test('a full disk leaves no folder id, and the next start makes one that stays', () => {
  fillDisk();
  expect(failureOf(() => dataFolderId(data)).code).toBe('storage_failed');
  expect(fs.readdirSync(data)).toEqual([]);
  const id = dataFolderId(data);
  expect(dataFolderId(data)).toBe(id);
});

function failureOf(work: () => unknown): HoldfastError {
  try {
    work();
  } catch (err) {
    if (err instanceof HoldfastError) return err;
    throw err;
  }
  throw new Error('it did not fail');
}
