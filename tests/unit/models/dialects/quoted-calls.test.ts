// A call between backticks is quoted, not meant.
import { codeSpans } from '../../../../models/dialects/code-spans';
import { createDialects } from '../../../../models/dialects/dialects';

const find = createDialects();
const TAGGED = '<tool>[{"tool_name": "shell", "arguments": {"command": "ls"}}]</tool>';
const AGENT_JSON = '{"tool_name": "shell", "tool_args": {"command": "ls"}}';

describe.each([
  ['tagged', TAGGED],
  ['agent-json', AGENT_JSON],
] as const)('in the dialect %s', (name, call) => {
  const parse = (text: string) => find(name).parse({ text });

  test.each(['`', '``'])('a call between %s in a sentence is text', (mark) => {
    const text = `Write ${mark}${call}${mark} to list a folder.`;
    expect(parse(text)).toEqual({ kind: 'answer', answer: text });
  });

  test('a reply that is only a call between backticks neither runs nor is an answer', () => {
    expect(parse(`\`${call}\``)).toMatchObject({ kind: 'malformed' });
  });

  test('a call runs beside quoted ones, and whatever backticks are around or in it', () => {
    for (const text of [
      `Not \`${call}\` but this:\n\n${call}`,
      `With \`ls\` and one \` more.\n\n${call}`,
      `One \` here. ${call.replace('ls', 'echo `date`')}`,
    ])
      expect([text, parse(text)]).toEqual([text, expect.objectContaining({ kind: 'calls' })]);
  });
});

test('inline code ends with as many backticks as it began with, in its paragraph; a fence is no inline code', () => {
  const spans = (text: string): string[] => codeSpans(text).map(({ start, end }) => text.slice(start, end));
  expect(spans('a `b` c ``d ` e`` f')).toEqual(['`b`', '``d ` e``']);
  expect(spans('a ` b\n\nc ` d')).toEqual([]);
  expect(spans('a\n```js\n` <x>\n```\n`b`')).toEqual(['```js\n` <x>\n```', '`b`']);
  expect(spans('```x``` and `y`')).toEqual(['```x```', '`y`']);
});

test('a long text of backticks is read in time that grows with its length', () => {
  const text = Array.from({ length: 60_000 }, (_, at) => '`'.repeat(1 + (at % 7)) + ' ').join('');
  const began = performance.now();
  codeSpans(text);
  expect(performance.now() - began).toBeLessThan(2_000);
});
