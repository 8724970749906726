import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  truncateSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { MAX_TEXT_BYTES } from '../../../../tools/files/host-files';
import { patchTrial, update, wrap, type Files, type PatchTrial } from '../../../helpers/tools/patch-trial';
import { isPossible, readOnlyMount } from '../../../helpers/hosts/unwritable';

let patch: PatchTrial;
beforeEach(() => {
  patch = patchTrial();
});
afterEach(() => patch.remove());

test('one patch adds, changes, renames and deletes, and says so in the words of Codex', async () => {
  patch.put({ 'src/app.py': 'import x\n\ndef greet():\n    print("Hi")\n', old: 'x', b: 'one\ntwo\n' });
  const result = await patch.apply(
    wrap(
      '*** Add File: deep/er/hello.txt',
      '+Hello',
      '+',
      '+world',
      '*** Update File: src/app.py',
      '*** Move to: src/main.py',
      '@@ def greet():',
      '-    print("Hi")',
      '+    print("Hello")',
      '*** Delete File: old',
      '*** Update File: b',
      '@@',
      ' one',
      '-two',
      '+2',
    ),
  );
  expect(result).toBe(
    'Success. Updated the following files:\nA deep/er/hello.txt\nM src/main.py\nM b\nD old\n',
  );
  expect(patch.filesNow()).toEqual({
    'deep/er/hello.txt': 'Hello\n\nworld\n',
    'src/main.py': 'import x\n\ndef greet():\n    print("Hello")\n',
    b: 'one\n2\n',
  });
});

test.each<[string, string, string[], string]>([
  ['without a heading', 'a\nb\nc\n', [' a', '-b', '+B', ' c'], 'a\nB\nc\n'],
  ['several hunks', 'a\nb\nc\nd\n', ['@@', '-a', '+A', '@@', ' c', '-d', '+D'], 'A\nb\nc\nD\n'],
  ['two headings', 'x\nm\n1\ny\nm\n1\n', ['@@ y', '@@ m', '-1', '+2'], 'x\nm\n1\ny\nm\n2\n'],
  ['a heading with line numbers', 'f\n1\n', ['@@ -1,2 +1,2 @@ f', '-1', '+2'], 'f\n2\n'],
  ['lines that are only taken away', 'a\nb\nc\n', ['@@', ' a', '-b'], 'a\nc\n'],
  ['lines that are only added, at the end', 'a\n', ['@@', '+b', '+c'], 'a\nb\nc\n'],
  ['lines that are only added, behind a heading', 'a\nb\n', ['@@ a', '+x'], 'a\nx\nb\n'],
  ['the end of the file', 'a\nb\na\nb\n', ['@@', ' a', '-b', '+B', '*** End of File'], 'a\nb\na\nB\n'],
  ['an empty line that lost its space', 'a\n\nb\n', ['@@', ' a', '', '-b', '+B'], 'a\n\nB\n'],
  ['the first of equal places', 'x\na\nx\na\n', ['@@', '-a', '+A'], 'x\nA\nx\na\n'],
  ['white space behind', 'a  \nb\n', ['@@', ' a', '-b', '+B'], 'a  \nB\n'],
  ['white space before', '\ta\n\tb\n', ['@@', ' a', '-b', '+\tB'], '\ta\n\tB\n'],
  ['typographic characters', 'x “y” – z\nb\n', ['@@', ' x "y" - z', '-b', '+B'], 'x “y” – z\nB\n'],
  ['an exact place before a similar one', ' a\nx\na\ny\n', ['@@', '-a', '+A'], ' a\nx\nA\ny\n'],
  ['a file with DOS line ends', 'a\r\nb\r\n', ['@@', ' a', '-b', '+B', '+C'], 'a\r\nB\r\nC\r\n'],
  ['a line that begins with a sign', '-a\n+b\n', ['@@', '--a', '+-A', ' +b'], '-A\n+b\n'],
  ['an empty file', '', ['@@', '+a'], 'a\n'],
])('a change applies to %s', async (_what, before, lines, after) => {
  patch.put({ a: before });
  await patch.apply(update(...lines));
  expect(patch.filesNow()).toEqual({ a: after });
});

test.each([
  ['as a heredoc', `<<'EOF'\n${update('@@', '-a', '+b')}\nEOF\n`],
  [
    'with blanks around its marks',
    `\n  *** Begin Patch \n*** Update File:  a \n@@\n-a\n+b\n *** End Patch\n\n`,
  ],
  ['with DOS line ends', update('@@', '-a', '+b').replaceAll('\n', '\r\n')],
  [
    'with blank lines between its sections',
    wrap('', '*** Update File: a', '@@', '-a', '+b', '', '*** Add File: n', '+n'),
  ],
])('a patch applies that is written %s', async (_what, input) => {
  patch.put({ a: 'a\n' });
  await patch.apply(input);
  expect(patch.filesNow()).toMatchObject({ a: 'b\n' });
});

test('sections of one patch build on each other', async () => {
  patch.put({ a: '1\n2\n' });
  await patch.apply(
    wrap(
      ...['*** Update File: a', '@@', '-1', '+one'],
      ...['*** Update File: a', '*** Move to: b', '@@', ' one', '-2', '+two'],
      ...['*** Add File: c', '+c', '*** Delete File: c'],
    ),
  );
  expect(patch.filesNow()).toEqual({ b: 'one\ntwo\n' });
});

test('a renamed file keeps its mode, and a changed link stays a link', async () => {
  patch.put({ run: 'a\n', real: 'a\n' });
  chmodSync(join(patch.directory, 'run'), 0o750);
  symlinkSync('real', join(patch.directory, 'link'));
  await patch.apply(
    wrap(
      ...['*** Update File: run', '*** Move to: walk', '@@', '-a', '+b'],
      ...['*** Update File: link', '@@', '-a', '+b'],
    ),
  );
  expect(statSync(join(patch.directory, 'walk')).mode & 0o777).toBe(0o750);
  expect(lstatSync(join(patch.directory, 'link')).isSymbolicLink()).toBe(true);
  expect(patch.filesNow()).toEqual({ walk: 'b\n', real: 'b\n' });
});

test('a changed or renamed file loses its set-user-ID and set-group-ID bits', async () => {
  patch.put({ run: 'a\n', walk: 'a\n' });
  for (const name of ['run', 'walk']) chmodSync(join(patch.directory, name), 0o6755);
  await patch.apply(
    wrap(
      ...['*** Update File: run', '@@', '-a', '+b'],
      ...['*** Update File: walk', '*** Move to: stroll', '@@', '-a', '+b'],
    ),
  );
  const modes = ['run', 'stroll'].map((name) => statSync(join(patch.directory, name)).mode & 0o7777);
  expect(modes).toEqual([0o755, 0o755]);
});

/** As a deletion in a folder that cannot be written, or a file of somebody else in a sticky one. */
const withMounts = isPossible(readOnlyMount) ? describe : describe.skip;
withMounts('a change that the system refuses', () => {
  const A = ['*** Add File: new', '+new', '*** Update File: a', '@@', '-1', '+one', '*** Delete File: gone'];
  const before: Files = { a: '1\n', gone: 'x', 'vendor/b': '1\n' };
  const inodeOf = (name: string): number => statSync(join(patch.directory, name)).ino;

  test.each([
    ['deletion', ['*** Delete File: vendor/b'], 'vendor'],
    ['replaced file', ['*** Update File: vendor/b', '@@', '-1', '+2'], 'vendor/b'],
  ])('as the last of a patch changes nothing: a %s', async (_what, last, mounted) => {
    patch.put(before);
    const inodes = ['a', 'gone'].map(inodeOf);
    const path = join(patch.directory, mounted);
    if (mounted === 'vendor') readOnlyMount.forbid(path);
    else execFileSync('mount', ['--bind', path, path]);
    try {
      await expect(patch.apply(wrap(...A, ...last))).rejects.toThrow(
        `file_failed: The file ${join(patch.directory, 'vendor/b')} could not be changed`,
      );
      expect(patch.filesNow()).toEqual(before);
      expect(['a', 'gone'].map(inodeOf)).toEqual(inodes);
    } finally {
      readOnlyMount.allow(path);
    }
  });
});

test('files whose names are as long as can be are changed and deleted', async () => {
  const [a, b] = ['ä'.repeat(127), 'ö'.repeat(127)] as const;
  patch.put({ [a]: '1\n', [b]: '1\n' });
  await patch.apply(wrap(`*** Update File: ${a}`, '@@', '-1', '+2', `*** Delete File: ${b}`));
  expect(patch.filesNow()).toEqual({ [a]: '2\n' });
});

const FIRST = [
  '*** Add File: new',
  '+new',
  '*** Delete File: gone',
  '*** Update File: a',
  '@@',
  '-1',
  '+one',
];
test.each<[string, string[], string[]]>([
  [
    'a line that is not there',
    ['*** Update File: b', '@@', '-head', '+HEAD', '@@', ' x', '-zwei', '+zwo'],
    ['hunk 2 of b', '\n  x\n  zwei\n', 'line 3 is "two", expected "zwei"'],
  ],
  [
    'a heading that is not there',
    ['*** Update File: b', '@@ nowhere', '+y'],
    ['the heading of hunk 1 of b', 'nowhere'],
  ],
  [
    'a place that was passed',
    ['*** Update File: b', '@@', '-two', '+2', '@@', '-head', '+HEAD'],
    ['hunk 2 of b', 'are at line 1', 'has passed'],
  ],
  [
    'lines not at the end',
    ['*** Update File: b', '@@', '-head', '+H', '*** End of File'],
    ['not at the end'],
  ],
  [
    'a file that is not there',
    ['*** Update File: none', '@@', '-x', '+y'],
    ['none cannot be updated', 'not exist'],
  ],
  ['a file that is gone', ['*** Update File: gone', '@@', '-x', '+y'], ['after it was deleted']],
  ['a folder to update', ['*** Update File: dir', '@@', '-x', '+y'], ['a folder']],
  ['a folder to delete', ['*** Delete File: dir'], ['dir', 'a folder']],
  ['a folder in the place of a new file', ['*** Add File: dir', '+x'], ['dir exists already, as a folder']],
  [
    'a path in the home folder',
    ['*** Add File: ~/x', '+x'],
    ['~/x lies in the home folder', 'absolute path'],
  ],
  ['a file to delete that is not there', ['*** Delete File: none'], ['none', 'does not exist']],
  ['an absolute path', ['*** Add File: /tmp/holdfast-x', '+x'], ['/tmp/holdfast-x lies outside']],
  ['a path that leads out', ['*** Add File: dir/../../x', '+x'], ['dir/../../x lies outside']],
  ['a rename that leads out', ['*** Update File: b', '*** Move to: ../b'], ['../b lies outside']],
  ['a file that is no text', ['*** Update File: bin', '@@', '-x', '+y'], ['bin is not UTF-8 text']],
  ['an unknown section', ['*** Rename File: a'], ['line 9', 'Rename File']],
  ['a line without a sign', ['*** Update File: b', '@@', '-x', 'y'], ['line 12', '"y"']],
  ['a hunk without a change', ['*** Update File: b', '@@', ' x'], ['changes nothing']],
  ['a section without a hunk', ['*** Update File: b'], ['b changes nothing']],
  ['text without a sign in a new file', ['*** Add File: n', '+x', 'y'], ['line 11', '"y"']],
  ['a missing path', ['*** Delete File: '], ['a path is missing']],
])('%s is refused by name, and none of the patch is applied', async (_what, lines, words) => {
  const before = { a: '1\n', b: 'head\nx\ntwo\n', gone: 'x', 'dir/c': '' };
  patch.put(before);
  writeFileSync(join(patch.directory, 'bin'), Buffer.from([0xff, 0xfe]));
  const error = await patch.error({ input: wrap(...FIRST, ...lines) });
  expect(error.code).toBe('patch_failed');
  for (const word of words) expect(error.message).toContain(word);
  expect(patch.filesNow()).toMatchObject(before);
  expect(readdirSync(patch.directory).sort()).toEqual(['a', 'b', 'bin', 'dir', 'gone']);
});

test.each([
  ['', 'its first line must be "*** Begin Patch"'],
  ['*** Begin Patch\n*** Add File: a\n+x', 'its last line must be "*** End Patch"'],
  ['*** Begin Patch\n*** End Patch', 'changes no file'],
  ['*** Begin Patch', 'its last line'],
])('anything that is not a patch is refused: %j', async (input, words) => {
  expect(await patch.error({ input })).toMatchObject({
    code: 'patch_failed',
    message: expect.stringContaining(words) as string,
  });
});

test('a file that is too large to be changed in memory is refused, and with it the whole patch', async () => {
  patch.put({ b: 'old\n' });
  writeFileSync(join(patch.directory, 'a'), '');
  truncateSync(join(patch.directory, 'a'), MAX_TEXT_BYTES + 1);
  const input = wrap('*** Update File: b', '@@', '-old', '+new', '*** Update File: a', '@@', '-old', '+new');
  expect(await patch.error({ input })).toMatchObject({
    code: 'patch_failed',
    message: expect.stringContaining(
      `a has ${MAX_TEXT_BYTES + 1} bytes, allowed up to ${MAX_TEXT_BYTES}`,
    ) as string,
  });
  expect(readFileSync(join(patch.directory, 'b'), 'utf8')).toBe('old\n');
});

test('a patch that applies nowhere is refused without comparing each line of a long file with each of its own', async () => {
  const lines = 300_000;
  patch.put({ a: 'same\n'.repeat(lines) });
  const input = update('@@', ...Array.from({ length: 5_000 }, () => ' same'), '-other', '+new');
  expect(await patch.error({ input })).toMatchObject({
    code: 'patch_failed',
    message: expect.stringContaining(`Nearest: line 5001 is "same", expected "other".`) as string,
  });
});

test('if a file cannot be written, none is changed, and nothing is left next to them', async () => {
  patch.put({ a: '1\n', sub: 'a file, and no folder' });
  const error = await patch.error({
    input: wrap('*** Update File: a', '@@', '-1', '+one', '*** Add File: sub/b', '+b'),
  });
  expect(error.code).toBe('file_failed');
  expect(patch.filesNow()).toEqual({ a: '1\n', sub: 'a file, and no folder' });
});

test('it never runs a second time', async () => {
  expect(await patch.error({ input: wrap('*** Add File: a', '+x') }, { attempt: 2 })).toMatchObject({
    code: 'unknown_outcome',
  });
  expect(existsSync(join(patch.directory, 'a'))).toBe(false);
});

test('a line of a file that looks like a section is a line of the file', async () => {
  patch.put({ a: 'old\n*** Delete File: b\n*** End of File\nlast\n', b: 'stays\n' });
  await patch.apply(update('@@', '-old', '+new', ' *** Delete File: b', ' *** End of File', '-last', '+end'));
  expect(patch.filesNow()).toEqual({ a: 'new\n*** Delete File: b\n*** End of File\nend\n', b: 'stays\n' });
});

test('a file that a patch changes by two paths has both changes', async () => {
  patch.put({ b: 'one\ntwo\n', 'real/c': 'x\ny\n' });
  symlinkSync('b', join(patch.directory, 'a'));
  symlinkSync('real', join(patch.directory, 'linked'));
  const change = (path: string, from: string, to: string): string[] => [
    `*** Update File: ${path}`,
    '@@',
    `-${from}`,
    `+${to}`,
  ];
  await patch.apply(
    wrap(
      ...change('a', 'one', 'ONE'),
      ...change('b', 'two', 'TWO'),
      ...change('linked/c', 'x', 'X'),
      ...change('real/c', 'y', 'Y'),
    ),
  );
  expect(patch.filesNow()).toMatchObject({ b: 'ONE\nTWO\n', 'real/c': 'X\nY\n' });
  expect(lstatSync(join(patch.directory, 'a')).isSymbolicLink()).toBe(true);
});

test('a byte order mark stays, whatever becomes of the first line', async () => {
  patch.put({ a: '\ufeffusing A;\nusing B;\n' });
  await patch.apply(update('@@', '-using A;', '+using C;', ' using B;'));
  expect(patch.filesNow()).toEqual({ a: '\ufeffusing C;\nusing B;\n' });
});
