// What is taken in of a provider's reply, whose code may be anyone's: histories keep it.
import type { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { checkedReply } from '../../../models/checked-reply';

const usage = { inputTokens: 3, outputTokens: 2 };
const whole = { ...usage, cachedTokens: 0, costUsd: null };

test.each<[string, unknown, unknown]>([
  ['a text', { text: '' }, { text: '' }],
  ['counted tokens', { text: 'x', usage }, { text: 'x', usage: whole }],
  [
    'everything',
    {
      text: 'x',
      calls: [{ id: 'a', tool: 't', args: '{}' }],
      isCut: true,
      isRefusal: true,
      usage: { ...whole, cachedTokens: 1, costUsd: 0.5 },
    },
    {
      text: 'x',
      calls: [{ id: 'a', tool: 't', args: '{}' }],
      isCut: true,
      isRefusal: true,
      usage: { ...whole, cachedTokens: 1, costUsd: 0.5 },
    },
  ],
  [
    'a call without an id',
    { text: '', calls: [{ tool: 't', args: '' }] },
    { text: '', calls: [{ id: '', tool: 't', args: '' }] },
  ],
  ['no usage, said twice', { text: 'x', usage: null }, { text: 'x' }],
  ['keys of its own', { text: 'x', model: 'y', usage: { ...usage, cost: 'z' } }, { text: 'x', usage: whole }],
])('a reply may have %s; what a usage lacks is added', (_what, reply, taken) => {
  expect(checkedReply('own:x', reply)).toEqual(taken);
});

test.each<[unknown, string]>([
  [undefined, 'got nothing, allowed a value without these faults: "/text" must be a string'],
  [null, '"/text" must be a string'],
  ['hello', 'got "hello", allowed a value without these faults: must be an object'],
  [{}, '"/text" must be a string'],
  [{ text: 5 }, 'got {"text":5}, allowed a value without these faults: "/text" must be a string'],
  [{ text: 'x', calls: {} }, '"/calls" must be an array'],
  [{ text: 'x', calls: [{ id: 'a', tool: 't', args: {} }] }, '"/calls/0/args" must be a string'],
  [{ text: 'x', isCut: 'no' }, '"/isCut" must be a boolean'],
  [{ text: 'x', usage: 5 }, '"/usage" must be an object'],
  [{ text: 'x', usage: { inputTokens: 1 } }, '"/usage/outputTokens" must be'],
  [{ text: 'x', usage: { ...usage, outputTokens: -1 } }, '"/usage/outputTokens" must be at least 0'],
  [{ text: 'x', usage: { ...usage, outputTokens: NaN } }, '"/usage/outputTokens" must be'],
  [{ text: 'x', usage: { ...usage, outputTokens: 1.5 } }, '"/usage/outputTokens" must be'],
  [{ text: 'x', usage: { ...usage, outputTokens: '7' } }, '"/usage/outputTokens" must be'],
  [{ text: 'x', usage: { ...usage, cachedTokens: '0' } }, '"/usage/cachedTokens" must be'],
  [{ text: 'x', usage: { ...usage, costUsd: Infinity } }, '"/usage/costUsd" must be'],
  [{ text: 'x', usage: { ...usage, costUsd: -1 } }, '"/usage/costUsd" must be at least 0'],
  [{ text: 5n }, 'got {"text":"5n"}'],
  [new Proxy({}, { get: () => boom() }), 'a trap'],
])(
  'a reply that cannot be used fails the call for good, with its model and what is needed (%#)',
  (reply, said) => {
    const taking = (): unknown => checkedReply('own:x', reply);
    expect(taking).toThrow(said);
    expect(taking).toThrow(
      /provider of own:x gave a reply .* A reply is \{ text \}.*\{ inputTokens, outputTokens \}/s,
    );
    expect(taking).toThrow(
      expect.objectContaining({ code: 'model_failed', retryable: false }) as HoldfastError,
    );
  },
);

function boom(): never {
  throw new Error('a trap');
}
