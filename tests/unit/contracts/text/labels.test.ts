import {
  asSummary,
  fenced,
  inMarkdown,
  label,
  listLink,
  messageList,
  workflowLink,
} from '../../../../contracts/text/labels';

test.each([
  ['colours and titles', '\u001b[31mred\u001b[0m \u001b]0;title\u0007text', 'red text'],
  ['an unfinished sequence', 'text\u001b[31', 'text'],
  ['line ends and other controls', ' one\r\n\ttwo\u0000three\u0085 ', 'one two three'],
  ['what turns the direction of a text', 'a\u202eb\u2066c', 'a b c'],
])('a label has none of %s', (_what, text, expected) => {
  expect(label(text)).toBe(expected);
});

test.each([['x'], ['語'], ['😀'], ['\u0001x']])(
  'a label of many %j takes less than 400 bytes as JSON',
  (text) => {
    const short = label(text.repeat(100_000));
    expect(Buffer.byteLength(JSON.stringify(short))).toBeLessThan(400);
    expect(Buffer.from(short).toString()).toBe(short);
  },
);

test('a label that is long enough stays whole', () => {
  expect(label('x'.repeat(96))).toBe('x'.repeat(96));
  expect(label('x'.repeat(97))).toBe(`${'x'.repeat(95)}…`);
});

test('inside Markdown, what others wrote means nothing', () => {
  expect(inMarkdown('<b>*x*</b> [a](b) `c` # | & \u001b[1m~')).toBe(
    '\\<b\\>\\*x\\*\\</b\\> \\[a\\]\\(b\\) \\`c\\` \\# \\| \\& \\~',
  );
});

test.each([
  [
    '*a* _b_ [c](d) <e> `f` \\\\ ~g~ &h; $i$',
    '\\*a\\* \\_b\\_ \\[c](d) \\<e> \\`f\\` \\\\\\\\ \\~g\\~ \\&h; \\$i\\$',
  ],
  ['Fix it (now), or: #12!', 'Fix it (now), or: #12!'],
  ['# a', '\\# a'],
  ['- a', '\\- a'],
  ['12. a', '12\\. a'],
  ['> a', '\\> a'],
  ['see https://x.example', 'see https\\://x.example'],
])('in a summary, %j means nothing, and no more is escaped than must be', (text, expected) => {
  expect(asSummary(text)).toBe(expected);
});

test.each(['\\', '*', '語', '😀'])('a summary of many %j takes less than 400 bytes as JSON', (text) => {
  expect(Buffer.byteLength(JSON.stringify(asSummary(text.repeat(1_000))))).toBeLessThan(400);
});

test('a fence is longer than any run of backquotes in its text, and shows the end', () => {
  expect(fenced('a ``` b ```` c', 100)).toBe('`````\na ``` b ```` c\n`````');
  expect(fenced('0123456789', 3)).toBe('```\n789\n```');
});

test('a link ends where we end it, whatever is in its names', () => {
  expect(workflowLink('a)b', 'x](http://y)')).toBe(
    '[x\\]\\(http\\://y\\)](/namespaces/a%29b/workflows/x%5D%28http%3A%2F%2Fy%29)',
  );
  expect(workflowLink('a', '\ud800')).toContain('/workflows/%EF%BF%BD)');
});

test('links lead to a workflow’s page and to a list, whatever the address of the web UI', () => {
  expect(workflowLink('default', 'exec/a/local/0')).toBe(
    '[exec/a/local/0](/namespaces/default/workflows/exec%2Fa%2Flocal%2F0)',
  );
  expect(listLink('default', 'A="b"', 'all')).toContain('workflows?query=A%3D%22b%22)');
});

test('messages are listed with their data, if they take any', () => {
  expect(
    messageList([
      ['look', 'Signal `poll`', null],
      ['type', 'Signal `input`', '{"keyboard":"Y"}'],
    ]),
  ).toBe('- to look: Signal `poll`\n- to type: Signal `input` with `{"keyboard":"Y"}`');
});

test.each(['`<b>`', '``', 'a`', '```'])('data with backquotes such as %j stays code to its end', (id) => {
  const json = JSON.stringify({ id });
  const line = messageList([['say yes', 'Signal `approve`', json]]).split(' with ')[1] ?? '';
  const fence = /^`+/.exec(line)?.[0] ?? '';
  expect(line).toBe(`${fence} ${json} ${fence}`);
  expect([...json.matchAll(/`+/g)].map(([run]) => run)).not.toContain(fence);
});
