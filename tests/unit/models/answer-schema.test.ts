import type { ParsedReply } from '../../../contracts/agents/agent';
import { checkedAnswer } from '../../../models/answer-schema';

const answer = (text: string): ParsedReply => ({ kind: 'answer', answer: text });

test.each([
  {
    what: 'a pattern that takes for ever',
    schema: { pattern: '^(a+)+$' },
    text: JSON.stringify(`${'a'.repeat(40)}!`),
  },
  { what: 'a schema that refers to itself', schema: { $ref: '#' }, text: '{}' },
  { what: 'checks that are promises', schema: { $async: true, type: 'object' }, text: '[]' },
  { what: 'a schema elsewhere', schema: { $ref: 'http://127.0.0.1:9/schema.json' }, text: '{}' },
  { what: 'what is no schema', schema: { type: 'nothing' }, text: '{}' },
])('an outputSchema with $what is refused, and neither holds nor ends the worker', ({ schema, text }) => {
  expect(() => checkedAnswer(answer(text), schema)).toThrow(/^The outputSchema/);
});

test.each(['```json\n{"n": 1}\n```', '```\n{"n": 1}\n\n```\n', '  {"n": 1}\n'])(
  'the value is found in %j',
  (text) => {
    expect(checkedAnswer(answer(text), { type: 'object' })).toEqual({
      kind: 'answer',
      answer: '{"n": 1}',
      output: { n: 1 },
    });
  },
);

test('an answer of only line ends after a fence is malformed at once', () => {
  expect(checkedAnswer(answer(`\`\`\`json\n${'\n'.repeat(5_000)}{}`), {})).toMatchObject({
    kind: 'malformed',
  });
});

test('an answer nested too deep to be recorded is malformed', () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  expect(checkedAnswer(answer(deep), {})).toMatchObject({
    kind: 'malformed',
    problem: expect.stringContaining('nested too deep: allowed 100 levels') as string,
  });
});
