import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findTrusted, trustedPath, whyUntrusted } from '../../../exec/trusted-program';

let folder: string;
let root: string;
let bin: string;
beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'holdfast-trusted-'));
  [root = '', bin = ''] = ['work', 'bin'].map((name) => join(folder, name));
  for (const place of [root, bin]) mkdirSync(place);
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(...names: string[]): string {
  const path = join(folder, ...names);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '#!/bin/sh\n', { mode: 0o755 });
  return path;
}
const find = (...folders: string[]): ReturnType<typeof findTrusted> =>
  findTrusted('it', { path: folders.join(':'), roots: [root] });

test('a program in a folder that code in the sandbox can write is passed over', () => {
  const planted = dirname(program('work', '.venv', 'bin', 'it'));
  expect(find(planted)).toEqual({ refused: expect.stringContaining(`it lies in ${root}`) as string });
  const path = program('bin', 'it');
  expect(find(planted, bin)).toEqual({ path });
});

test.each<[string, () => void]>([
  ['the program', () => symlinkSync(program('work', 'real'), join(bin, 'it'))],
  [
    'its folder',
    () => {
      program('work', 'bin', 'it');
      rmSync(bin, { recursive: true });
      symlinkSync(join(root, 'bin'), bin);
    },
  ],
  [
    'a link on the way',
    () => {
      program('real', 'it');
      symlinkSync(join(folder, 'real'), join(root, 'way'));
      symlinkSync('../work/way/it', join(bin, 'it'));
    },
  ],
])('a program is skipped if %s leads through such a folder', (_what, link) => {
  link();
  expect(find(bin)).toEqual({ refused: expect.stringContaining(`lies in ${root}`) as string });
});

test('relative folders on a PATH are ignored', () => {
  program('bin', 'it');
  expect(findTrusted('it', { path: `bin:.::${bin}/../none`, roots: [] })).toEqual({});
});

test.each<[string, () => void]>([
  ['the program', () => chmodSync(join(bin, 'it'), 0o777)],
  ['its folder', () => chmodSync(bin, 0o777)],
  ['a folder above', () => chmodSync(folder, 0o777)],
])('a program is refused if everyone may change %s', (_what, open) => {
  program('bin', 'it');
  open();
  expect(find(bin)).toEqual({ refused: expect.stringContaining('open to them') as string });
});

const isRoot = process.getuid?.() === 0;
(isRoot ? test : test.skip)('a program is refused that belongs to another user, who is not root', () => {
  chownSync(program('bin', 'it'), 65_534, 65_534);
  expect(find(bin)).toEqual({ refused: expect.stringContaining('other users') as string });
});

test('programs that a program starts in turn are looked up only in trusted folders', () => {
  const open = join(folder, 'open');
  mkdirSync(open);
  chmodSync(open, 0o1777);
  const path = `${root}/.venv/bin:.:${open}:${bin}:relative`;
  expect(trustedPath({ path, roots: [root] })).toBe(bin);
});

test('a path next to a folder with the same prefix is not in it', () => {
  expect(whyUntrusted(program('work-2', 'it'), [root])).toBeUndefined();
});
