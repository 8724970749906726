// What the page reads of patches and results.
import { readPatch } from '../../../console/text/read-patch';
import { resultsOfReply } from '../../../console/parts/conversation/results-of-reply';
import type { Message, ToolCall } from '../../../contracts/agents/agent';

test('a patch of apply_patch is read file by file, also within a command', () => {
  const patch = [
    '*** Begin Patch',
    '*** Update File: src/a.ts',
    '*** Move to: src/b.ts',
    '@@ class A',
    ' same',
    '-old',
    '+new',
    '*** Delete File: gone.txt',
    '*** Add File: new file.txt',
    '+first',
    '*** End Patch',
    'EOF',
  ].join('\n');
  const files = [
    {
      ...{ what: 'moves', path: 'src/a.ts', to: 'src/b.ts' },
      lines: [
        { kind: 'place', text: '@@ class A' },
        { kind: 'same', text: 'same' },
        { kind: 'removed', text: 'old' },
        { kind: 'added', text: 'new' },
      ],
    },
    { what: 'deletes', path: 'gone.txt', lines: [] },
    { what: 'adds', path: 'new file.txt', lines: [{ kind: 'added', text: 'first' }] },
  ];
  expect(readPatch(patch)).toEqual(files);
  expect(readPatch(`apply_patch <<'EOF'\n${patch}`)).toEqual(files);
});

test('a unified diff is read file by file', () => {
  const diff = [
    'diff --git a/one.txt b/one.txt',
    'index 1..2 100644',
    '--- a/one.txt',
    '+++ b/one.txt',
    '@@ -1,2 +1,2 @@',
    ' same',
    '-old',
    '+new',
    'diff --git a/two.txt b/two.txt',
    'new file mode 100644',
    '--- /dev/null',
    '+++ b/two.txt',
    '@@ -0,0 +1 @@',
    '+only',
  ].join('\n');
  expect(readPatch(diff)).toMatchObject([
    {
      what: 'changes',
      path: 'one.txt',
      lines: [{ kind: 'place' }, { text: 'same' }, { text: 'old' }, { text: 'new' }],
    },
    { what: 'adds', path: 'two.txt', lines: [{ kind: 'place' }, { kind: 'added', text: 'only' }] },
  ]);
});

test.each(['', 'plain text', '- a list\n+ of things', '---\ntitle: x\n---'])('%j is no patch', (text) => {
  expect(readPatch(text)).toBeNull();
});

const reply = (...ids: string[]): Message => ({
  role: 'assistant',
  parsed: {
    ...{ kind: 'calls', headline: null, thoughts: [], prose: '' },
    calls: ids.map((callId): ToolCall => ({ callId, tool: 't', args: {} })),
  },
});
const result = (callId: string, content: string): Message => ({
  ...{ role: 'tool', callId, tool: 't', content, isError: false },
});

test('a result belongs to the reply before it, whatever other calls have the same id', () => {
  const messages: Message[] = [
    reply('1', '2'),
    result('1', 'a'),
    result('2', 'b'),
    { role: 'user', text: 'next' },
    reply('1', '1'),
    { role: 'checkpoint', turn: 1, step: 2, before: true, outcome: { state: 'off', reason: 'x' } },
    result('1', 'c'),
    result('1', 'd'),
    reply('1'),
  ];
  const found = (at: number): (string | undefined)[] =>
    resultsOfReply(messages, at).map((one) => one?.content);
  expect([found(0), found(4), found(8)]).toEqual([['a', 'b'], ['c', 'd'], [undefined]]);
});
