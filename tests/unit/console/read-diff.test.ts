// What the page reads of the differences between two states of a workspace.
import { readDiff } from '../../../console/text/read-diff';

const head = (path: string, names = `a/${path} b/${path}`): string[] => [
  `diff --git ${names}`,
  'index 1111111..2222222 100644',
  `--- a/${path}`,
  `+++ b/${path}`,
];
const textsOf = (text: string, path: string): string[] | undefined =>
  readDiff(text)
    .get(path)
    ?.lines.map((line) => `${line.kind} ${line.text}`);

test('lines, modes, folders and contents that are not text are each told for their path', () => {
  const text = [
    'new empty folder "empty/"',
    'mode 100644 => 100600 "a b.txt"',
    ...head('a b.txt'),
    '@@ -1,2 +1,2 @@ function x',
    ' same',
    '-old',
    '+new',
    '\\ No newline at end of file',
    'diff --git a/run b/run',
    'new file mode 100755',
    'index 0000000..2222222',
    'Binary files /dev/null and b/run differ',
    '',
  ].join('\n');
  expect(Object.fromEntries(readDiff(text))).toEqual({
    'empty/': { lines: [], notes: ['new empty folder'], isCut: false },
    'a b.txt': {
      lines: [
        { kind: 'place', text: '@@ -1,2 +1,2 @@ function x' },
        { kind: 'same', text: 'same' },
        { kind: 'removed', text: 'old' },
        { kind: 'added', text: 'new' },
        { kind: 'place', text: '\\ No newline at end of file' },
      ],
      notes: ['mode 100644 => 100600'],
      isCut: false,
    },
    run: { lines: [], notes: ['new file mode 100755', 'not text'], isCut: false },
  });
});

test('no line of a file passes for the head of another one', () => {
  const forged = [
    '-- a/other',
    '++ b/other',
    '@@ -1 +1 @@',
    'diff --git a/other b/other',
    'new empty folder "x"',
  ];
  const text = [
    ...head('a'),
    '@@ -1 +1,5 @@',
    `-${forged[0]}`,
    ...forged.map((line) => `+${line}`),
    ...head('b'),
    '@@ -0,0 +1 @@',
    '+last',
  ].join('\n');
  expect([...readDiff(text).keys()]).toEqual(['a', 'b']);
  expect(textsOf(text, 'a')).toEqual([
    'place @@ -1 +1,5 @@',
    `removed ${forged[0]}`,
    ...forged.map((line) => `added ${line}`),
  ]);
  expect(textsOf(text, 'b')).toEqual(['place @@ -0,0 +1 @@', 'added last']);
});

test.each([
  ['a "quoted" \\ name', '"a/a \\"quoted\\" \\\\ name" "b/a \\"quoted\\" \\\\ name"'],
  ['new\nline\tä', '"a/new\\nline\\t\\303\\244" "b/new\\nline\\t\\303\\244"'],
  ['ä b/x b/ä', 'a/ä b/x b/ä b/ä b/x b/ä'],
  ['\ufffd', '"a/\\377" "b/\\377"'],
])('the path %j is read as it is', (path, names) => {
  const text = [...head('', names), '@@ -0,0 +1 @@', '+x'].join('\n');
  expect([...readDiff(text).keys()]).toEqual([path]);
});

test('where the end is missing, its file says so', () => {
  const cut = [...head('a'), '@@ -1,9 +1,9 @@', ' one', '-two'].join('\n');
  expect(readDiff(cut).get('a')).toMatchObject({ isCut: true, lines: { length: 3 } });
});

test.each(['', 'nothing of a diff\n', '@@ -1 +1 @@\n-x\n+y\n'])('%j tells nothing', (text) => {
  expect(readDiff(text).size).toBe(0);
});
