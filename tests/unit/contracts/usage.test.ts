// What usages add up to, and what a failure says about one.
import { ActivityFailure, TimeoutFailure } from '@temporalio/common';
import type { Usage } from '../../../contracts/agents/agent';
import { toFailure } from '../../../contracts/errors/failure';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { addUsage } from '../../../contracts/models/usage';
import { usageOfFailure } from '../../../contracts/models/usage-of-failure';
import { agentEndedSchema, agentsEndedSchema } from '../../../contracts/schemas/agent-signals';
import { parseWith } from '../../../contracts/schemas/parse';

const NOTHING: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: null };

test('the cost of a sum is known if every part has a price; what some of them cost stays known', () => {
  const part = (costUsd: number | null): Usage => ({ ...NOTHING, costUsd });
  const sum = (...parts: Usage[]): Usage | null => parts.reduce<Usage | null>(addUsage, null);
  expect(sum(part(0.5), part(0.25))).toEqual({ ...part(0.75) });
  expect(sum(part(null), part(null))).toEqual(part(null));
  const mixed = sum(part(0.5), part(null), part(0.25));
  expect(mixed).toEqual({ ...part(null), pricedUsd: 0.75 });
  expect(addUsage(mixed, mixed)).toEqual({ ...part(null), pricedUsd: 1.5 });
});

test('a parent hears of the priced part of what a sub-agent took, and its turn of that of several', () => {
  const usage = { ...NOTHING, pricedUsd: 0.5 };
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
