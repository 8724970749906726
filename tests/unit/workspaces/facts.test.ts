import {
  factsMessage,
  fileMode,
  folderMode,
  noFacts,
  readFacts,
  type TreeFacts,
} from '../../../workspaces/git/facts';
import { byBytes, foldersOn, folderOf, isKeepable, nameOf, shownPath } from '../../../workspaces/byte-path';

const facts: TreeFacts = {
  usual: { file: 0o664, program: 0o775, folder: 0o775 },
  modes: new Map([
    ['b', 0o600],
    ['__proto__', 0o640],
    ['caf\xe9\n"\\/', 0o700],
    ['/', 0o2775],
  ]),
  empty: new Set(['z', 'a/b']),
  left: new Map([['large.bin', '5.7']]),
};

test('what a message says is read again as it was, and is ASCII in one line', () => {
  const message = factsMessage(facts);
  expect(message).toMatch(/^[ -~]+\n\n[ -~]+\n$/);
  expect(readFacts(message)).toEqual(facts);
  expect(readFacts(factsMessage(noFacts()))).toEqual(noFacts());
});

test('the same facts make the same message, in whatever order they were found', () => {
  const other = { ...facts, modes: new Map([...facts.modes].reverse()), empty: new Set(['a/b', 'z']) };
  expect(factsMessage(other)).toBe(factsMessage(facts));
});

test('the message of another commit is refused', () => {
  expect(() => readFacts('Initial commit\n')).toThrow(/no checkpoint/);
});

test('a mode is the path’s own, else the usual one of its kind', () => {
  expect([
    fileMode(facts, 'b', 0o100644),
    fileMode(facts, 'c', 0o100644),
    fileMode(facts, 'c', 0o100755),
  ]).toEqual([...[0o600, 0o664, 0o775]]);
  expect([folderMode(facts, ''), folderMode(facts, 'x')]).toEqual([0o2775, 0o775]);
});

test.each([
  ['a', '', 'a', []],
  ['a/b', 'a', 'b', ['a']],
  ['a/b/c', 'a/b', 'c', ['a', 'a/b']],
])('the parts of the path %s', (path, folder, name, folders) => {
  expect([folderOf(path), nameOf(path), foldersOn(path)]).toEqual([folder, name, folders]);
});

test('paths are compared by bytes and shown as UTF-8', () => {
  expect(['b', 'a\xff', 'a', 'A'].sort(byBytes)).toEqual(['A', 'a', 'a\xff', 'b']);
  expect(shownPath('caf\xc3\xa9 \xff')).toBe('café \ufffd');
});

test.each([
  ['.git', false],
  ['a/.GIT/config', false],
  ['.gitignore', true],
  ['a.git/x', true],
  ['.git2', true],
])('whether git can keep %s: %s', (path, expected) => {
  expect(isKeepable(path)).toBe(expected);
});
