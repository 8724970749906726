import { fitReply, fitToolResult } from '../../../activities/blobs/fit-payload';
import {
  fitLines,
  fitText,
  jsonBytes,
  MAX_REPLY_BYTES,
  MAX_TOOL_RESULT_BYTES,
} from '../../../contracts/payload-size';

test.each([
  ['plain text', 'abc'.repeat(10)],
  ['what JSON escapes', '"\\\n\u0001'],
  ['letters of two and three bytes', 'äöü€'],
  ['pairs and halves of pairs', '😀\ud800x\udc00'],
])('the bytes of %s are those that Temporal’s converter writes', (_what, text) => {
  expect(jsonBytes({ text })).toBe(Buffer.byteLength(JSON.stringify({ text })));
});

test('a text that fits stays as it is, to the last byte', () => {
  const text = `${'x'.repeat(97)}\n`;
  expect(fitText(text, 101)).toBe(text);
  expect(fitText(text, 100)).not.toBe(text);
});

test.each([
  ['plain text', 'x'.repeat(1_000_000)],
  ['control characters, six bytes each', '\u0001'.repeat(100_000)],
  ['pairs', '😀'.repeat(100_000)],
  ['plain text with an end that is long as JSON', 'x'.repeat(100_000) + '\u0001'.repeat(20_000)],
])(
  'of a text that is too long, %s, the beginning and end are kept and the rest is counted',
  (_what, text) => {
    const fitted = fitText(text, 10_000);
    const [, head = '', left, tail = ''] =
      /^(.*)\n\[… (\d+) characters left out …\]\n(.*)$/s.exec(fitted) ?? [];
    expect(jsonBytes(fitted)).toBeLessThanOrEqual(10_000);
    expect(jsonBytes(fitted)).toBeGreaterThan(2_000);
    expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
    expect(head.length + Number(left) + tail.length).toBe(text.length);
    // Half a pair would be returned as another character.
    expect(Buffer.from(fitted).toString()).toBe(fitted);
  },
);

test('if nothing fits, only the note remains', () => {
  expect(fitText('x'.repeat(100), 0)).toBe('\n[… 100 characters left out …]\n');
});

test('a reply that is too long becomes a malformed one that says how long it may be', () => {
  const answer = 'x'.repeat(MAX_REPLY_BYTES / 2);
  const reply = { text: answer, parsed: { kind: 'answer' as const, answer } };
  const fitted = fitReply(reply);
  expect(fitted.parsed).toMatchObject({ kind: 'malformed' });
  expect(JSON.stringify(fitted.parsed)).toContain(`got ${2 * jsonBytes(reply.parsed)} bytes`);
  expect(jsonBytes(fitted)).toBeLessThan(10_000);
  const short = { text: 'x', parsed: { kind: 'answer' as const, answer: 'x' } };
  expect(fitReply(short)).toEqual({ parsed: short.parsed });
});

test('a call may be as long in a dialect that writes it as text as in one that does not', () => {
  const args = { content: 'x'.repeat(400_000) };
  const calls = [{ callId: 'a', tool: 'write_file', args }];
  const parsed = { kind: 'calls' as const, calls, headline: null, thoughts: [], prose: '' };
  for (const text of ['', JSON.stringify(calls)]) expect(fitReply({ text, parsed })).toEqual({ parsed });
});

test('what a provider sent with a reply is left out before the reply is', () => {
  const parsed = { kind: 'answer' as const, answer: 'x'.repeat(200_000) };
  const extras = { provider: 'p', data: { reasoning: 'y'.repeat(150_000) } };
  expect(fitReply({ text: '', parsed, extras })).toEqual({ parsed });
  const little = { provider: 'p', data: { reasoning: 'y' } };
  expect(fitReply({ text: '', parsed, extras: little })).toEqual({ parsed, extras: little });
});

test('half a surrogate pair in a result is replaced before it is recorded', () => {
  const result = { callId: 'c', tool: 't', content: 'a\ud83d', isError: false, value: { b: ['\udc00'] } };
  expect(fitToolResult(result)).toMatchObject({ content: 'a\ufffd', value: { b: ['\ufffd'] } });
});

test('a tool’s result that is too large keeps its beginning and its end', () => {
  const content = `begin${'x'.repeat(3_000_000)}end`;
  const fitted = fitToolResult({ callId: 'c', tool: 't', content, isError: false });
  expect(jsonBytes(fitted)).toBeLessThan(MAX_TOOL_RESULT_BYTES + 100);
  expect(fitted.content).toMatch(/^begin.*characters left out.*end$/s);
});

test.each([
  ['plain lines', 'x\n'.repeat(1_000), 100],
  ['lines with what JSON escapes', '\t"\u0001"\n'.repeat(1_000), 1_000],
  ['lines with pairs', '😀😀\n'.repeat(1_000), 1_000],
  ['a last line without its end', 'x\n'.repeat(40) + 'y'.repeat(100), 200],
  ['one long line', 'x'.repeat(1_000), 100],
])('of %s as many are kept as fit, and none in part', (_what, text, maxBytes) => {
  const fitted = fitLines(text, maxBytes);
  expect(text.startsWith(fitted)).toBe(true);
  expect(fitted.replace(/.*\n/gu, '')).toBe('');
  expect(jsonBytes(fitted)).toBeLessThanOrEqual(maxBytes);
  const [next = ''] = /^.*\n?/u.exec(text.slice(fitted.length)) ?? [];
  expect(jsonBytes(fitted + next)).toBeGreaterThan(maxBytes);
  expect(fitLines(text, jsonBytes(text))).toBe(text);
});
