// The index as git reads it.
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DamagedIndex, StatIndex, type IndexEntry } from '../../../workspaces/record/stat-index';

const entry = (oid: string, size = 1): IndexEntry => ({
  mode: 0o100644,
  oid: oid.repeat(40),
  size,
  stats: undefined,
});
const built = (paths: string[], prefix = ''): StatIndex =>
  new StatIndex(prefix, new StatIndex(prefix).with(new Map(paths.map((path) => [path, entry('a')]))));

test('git lists the same entries, in its own order, with names of any length and bytes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-index-'));
  try {
    const names = ['b', 'a/b', 'a', 'a-b', 'a.b', 'caf\xe9', '\xff', 'A', 'n\nl', 'x'.repeat(5_000)];
    writeFileSync(
      join(folder, 'index'),
      new StatIndex('').with(new Map(names.map((name) => [name, entry('c')]))),
    );
    execFileSync('git', ['init', '-q', '--bare', join(folder, 'git')]);
    const env = { ...process.env, GIT_DIR: join(folder, 'git'), GIT_INDEX_FILE: join(folder, 'index') };
    const listed = execFileSync('git', ['ls-files', '-s', '-z'], { env, cwd: folder });
    const lines = listed.toString('latin1').split('\0').slice(0, -1);
    expect(lines).toEqual([...names].sort().map((name) => `100644 ${'c'.repeat(40)} 0\t${name}`));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('entries are replaced, added and removed anywhere, and the others stay', () => {
  const before = built(['b', 'd', 'f']);
  const after = new StatIndex(
    '',
    before.with(
      new Map([
        ['a', entry('1')],
        ['d', entry('2', 7)],
        ['e', entry('3')],
        ['f', null],
        ['g', entry('4')],
        ['missing', null],
      ]),
    ),
  );
  expect([...after.paths()]).toEqual(['a', 'b', 'd', 'e', 'g']);
  expect(after.find('d')).toEqual({ mode: 0o100644, oid: '2'.repeat(40), size: 7 });
  expect([after.find('b')?.oid, after.find('f'), after.find('c')]).toEqual([
    'a'.repeat(40),
    undefined,
    undefined,
  ]);
  expect([...new StatIndex('', after.with(new Map([['a', null]]))).paths()]).toEqual(['b', 'd', 'e', 'g']);
});

test('a folder has files below only if a path continues it', () => {
  const index = built(['a-b', 'a.c', 'ab/c', 'b/c/d']);
  expect(['a', 'ab', 'b', 'b/c', 'b/c/d', 'c'].map((folder) => index.hasBelow(folder))).toEqual([
    ...[false, true, true, true, false, false],
  ]);
});

test('a prefix is part of the index and not of the paths', () => {
  const index = built(['x/y'], 'pkg/one/');
  expect([...index.paths()]).toEqual(['x/y']);
  expect([index.find('x/y') !== undefined, index.find('pkg/one/x/y'), index.hasBelow('x')]).toEqual([
    true,
    undefined,
    true,
  ]);
});

test('times and ids of a file are those that git compares', () => {
  const stats = lstatSync(__filename, { bigint: true });
  const bytes = new StatIndex('').with(new Map([['a', { ...entry('a', Number(stats.size)), stats }]]));
  expect(BigInt(bytes.readUInt32BE(12))).toBe(stats.ctimeNs / 1_000_000_000n);
  expect(BigInt(bytes.readUInt32BE(12 + 20))).toBe(stats.ino & 0xffff_ffffn);
  expect(BigInt(bytes.readUInt32BE(12 + 36))).toBe(stats.size);
});

test.each([Buffer.from('no index at all'), built(['a', 'b']).with(new Map()).subarray(0, 90)])(
  'a damaged file is said to be one',
  (bytes) => {
    expect(() => new StatIndex('', bytes)).toThrow(DamagedIndex);
  },
);
