import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findInTheWay } from '../../../system/data-dir';
import { makeFolder, makeFolders } from '../../../system/make-folder';

const onLinux = process.platform === 'linux' ? test : test.skip;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-folders-'));
  writeFileSync(join(directory, 'file'), '');
  symlinkSync(join(directory, 'nowhere'), join(directory, 'dangling'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));
const at = (path: string): string => join(directory, path);

test('a folder is made with its parents, for this user only, and one that exists is left as it is', () => {
  makeFolder(at('a/b/c'));
  expect(['a', 'a/b', 'a/b/c'].map((path) => statSync(at(path)).mode & 0o777)).toEqual([0o700, 0o700, 0o700]);
  makeFolder(at('a/b/c'), 0o755);
  expect(statSync(at('a/b/c')).mode & 0o777).toBe(0o700);
});

test.each([
  ['a file', 'file', 'something that is no folder is in its place'],
  ['a path through a file', 'file/sub', 'a part of its path is no folder'],
  ['a dangling link', 'dangling', 'something that is no folder is in its place'],
])('%s is refused with the reason and its path', (_name, path, reason) => {
  expect(() => makeFolder(at(path))).toThrow(
    expect.objectContaining({
      code: 'storage_failed',
      message: expect.stringContaining(`${at(path)}: ${reason}`) as string,
    }) as Error,
  );
});

onLinux('a file system that takes no folders is told at once, and not tried for ever', async () => {
  expect(() => makeFolder('/proc/holdfast/data')).toThrow(/no folder can be made there \(ENOENT/);
  await expect(makeFolders('/proc/holdfast/data')).rejects.toMatchObject({ code: 'ENOENT' });
});

test('folders for anybody are made with their parents', async () => {
  await makeFolders(at('x/y'));
  await makeFolders(at('x/y'));
  expect(existsSync(at('x/y'))).toBe(true);
});

test('several who make the same folders at once all have them', async () => {
  const paths = Array.from({ length: 50 }, (_, each) => at(`many/of/them/${each % 2}/deep`));
  await Promise.all(paths.map(makeFolders));
  expect(paths.every(existsSync)).toBe(true);
});

test.each([
  ['.', undefined],
  ['new/and/deep', undefined],
  ['file', 'file'],
  ['file/sub/deep', 'file'],
  ['dangling', 'dangling'],
  ['dangling/sub', 'dangling'],
])('in the way of a data folder at %s is %s', (path, found) => {
  expect(findInTheWay(at(path))).toBe(found && at(found));
});
