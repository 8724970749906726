// What errors show of values that no JSON can hold.
import { asJson, isJson } from '../../../../contracts/text/as-json';
import { checkedId, checkedObject, checkedSession } from '../../../../contracts/ids';
import { agentInputSchema } from '../../../../contracts/schemas/agent';
import { parseWith } from '../../../../contracts/schemas/parse';
import { outputSchema } from '../../../../contracts/schemas/session';

const cyclic: Record<string, unknown> = { model: 'scripted:x' };
cyclic.self = cyclic;
const twice = { a: 1 };
const throwing = {
  toJSON: (): never => {
    throw new Error('no');
  },
};

test.each<[string, unknown, string, boolean]>([
  ['JSON', { a: [1, null] }, '{"a":[1,null]}', true],
  ['nothing', undefined, 'nothing', false],
  ['a function', () => 1, 'nothing', false],
  ['a large number', 5n, '"5n"', false],
  ['a large number inside', { steps: 5n }, '{"steps":"5n"}', false],
  ['what contains itself', cyclic, '{"model":"scripted:x","self":"[itself]"}', false],
  ['the same twice', { n: 5n, one: twice, other: twice }, '{"n":"5n","one":{"a":1},"other":{"a":1}}', false],
  ['what throws', throwing, 'a value of the type object that cannot be shown', false],
])('%s is shown, whatever JSON says to it', (_what, value, shown, holds) => {
  expect([asJson(value), isJson(value)]).toEqual([shown, holds]);
});

test.each<[string, () => unknown, string]>([
  ['an id', () => checkedId('agent', 5n), 'got "5n", allowed'],
  ['a session', () => checkedSession(cyclic), '"[itself]"}, allowed'],
  [
    'an object',
    () => checkedObject('The session', null, 'an object'),
    'The session is invalid: got null, allowed',
  ],
  ['a limit', () => parseInput({ limits: { steps: 5n } }), 'got {"limits":{"steps":"5n"}}, allowed'],
  [
    'a limit with its own text',
    () => parseInput({ limits: { wallMs: 5n } }),
    '"/limits/wallMs" got "5n", allowed',
  ],
  ['an input that contains itself', () => parseInput(cyclic), '"[itself]"}}, allowed'],
  ['a schema that contains itself', () => parseInput({ outputSchema: cyclic }), 'got what JSON cannot hold'],
  ['a wait', () => parseWith(outputSchema, 'It', { wait: cyclic }), '"[itself]"'],
])('%s that JSON cannot hold is refused as what it is', (_what, refuse, said) => {
  expect(refuse).toThrow(
    expect.objectContaining({
      code: 'invalid_input',
      message: expect.stringContaining(said) as string,
    }) as Error,
  );
});

const parseInput = (input: object): unknown =>
  parseWith(agentInputSchema, 'The input of agent', { model: 'scripted:x', ...input });
