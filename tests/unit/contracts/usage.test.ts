// What usages add up to, and what is made of one that an own provider has left incomplete, in a history of a release that
// did not check it.
import { ActivityFailure, TimeoutFailure } from '@temporalio/common';
import type { Usage } from '../../../contracts/agents/agent';
import { toFailure } from '../../../contracts/errors/failure';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { addUsage, wholeUsage } from '../../../contracts/models/usage';
import { usageOfFailure } from '../../../contracts/models/usage-of-failure';
import { agentEndedSchema, agentsEndedSchema } from '../../../contracts/schemas/agent';
import { parseWith } from '../../../contracts/schemas/parse';
import { usageText } from '../../../cli/print/usage-text';

const INCOMPLETE = [{}, { inputTokens: 1, outputTokens: 1 }, { inputTokens: '1', cachedTokens: null }, 'x'];

test.each(INCOMPLETE)('the agent above hears of a sub-agent with such a usage: %j', (given) => {
  const usage = addUsage(null, wholeUsage(given as Partial<Usage>));
  const result = { answer: null, reason: 'answered', error: null, steps: 1, usage };
  expect(parseWith(agentEndedSchema, 'It', { agentId: 'a', result })).toMatchObject({ result: { usage } });
});

test.each(INCOMPLETE)('people can read it: %j', (given) => {
  expect(usageText(given as unknown as Usage)).toMatch(/^[01] tokens in, [01] out$/);
});

test('a whole usage stays as it is', () => {
  const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 3, costUsd: 4 };
  expect(wholeUsage(usage)).toEqual(usage);
  expect(wholeUsage({ ...usage, costUsd: null })).toEqual({ ...usage, costUsd: null });
});

test('the cost of a sum is known if every part has a price; what some of them cost stays known', () => {
  const part = (costUsd: number | null): Usage => ({ ...wholeUsage({}), costUsd });
  const sum = (...parts: Usage[]): Usage | null => parts.reduce<Usage | null>(addUsage, null);
  expect(sum(part(0.5), part(0.25))).toEqual({ ...part(0.75) });
  expect(sum(part(null), part(null))).toEqual(part(null));
  const mixed = sum(part(0.5), part(null), part(0.25));
  expect(mixed).toEqual({ ...part(null), pricedUsd: 0.75 });
  expect(addUsage(mixed, mixed)).toEqual({ ...part(null), pricedUsd: 1.5 });
  expect(wholeUsage(mixed ?? {})).toEqual(mixed);
});

test('a parent hears of the priced part of what a sub-agent took, and its turn of that of several', () => {
  const usage = { ...wholeUsage({}), pricedUsd: 0.5 };
  const result = { answer: null, reason: 'answered', error: null, steps: 1, usage };
  expect(parseWith(agentEndedSchema, 'It', { agentId: 'a', result })).toMatchObject({ result: { usage } });
  const waited = { results: {}, timedOut: false, usage };
  expect(parseWith(agentsEndedSchema, 'It', { key: 'k', result: waited }).result).toEqual(waited);
});

test('a failed summary tells what it has used, also where its time was up', () => {
  const usage: Usage = { inputTokens: 3, outputTokens: 1, cachedTokens: 0, costUsd: 0.5 };
  const failed = (cause: Error): ActivityFailure =>
    new ActivityFailure('it failed', 'compact', '1', 'TIMEOUT', 'a worker', cause);
  const refused = new HoldfastError('model_failed', { reason: 'it refused', ...usage });
  expect(usageOfFailure(failed(toFailure(refused)))).toEqual(usage);
  const late = (details: unknown): ActivityFailure =>
    failed(new TimeoutFailure('late', details, 'SCHEDULE_TO_CLOSE'));
  expect(usageOfFailure(late({ used: [usage, null, usage] }))).toEqual(addUsage(usage, usage));
  for (const other of [
    late(undefined),
    late({ used: [] }),
    failed(new Error('x')),
    new Error('x'),
    undefined,
  ])
    expect(usageOfFailure(other)).toBeUndefined();
});
