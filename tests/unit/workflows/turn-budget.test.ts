// What the limits of a turn leave it.
import type { TurnLimits } from '../../../contracts/agents/agent';
import { TurnBudget } from '../../../workflows/turn/turn-budget';

const usage = { inputTokens: 60, outputTokens: 40, cachedTokens: 0, costUsd: 0.5 };
const budget = (limits?: Partial<TurnLimits>): TurnBudget =>
  new TurnBudget({ settings: { ...(limits && { limits }) } } as never);

test.each<[Partial<TurnLimits>, string]>([
  [{ steps: 2 }, 'step_limit'],
  [{ tokens: 100 }, 'token_limit'],
  [{ costUsd: 0.5 }, 'cost_limit'],
])('with %j there is no further step once that is reached, and one before', (limits, reason) => {
  const used = budget(limits);
  used.steps = 1;
  expect(used.over).toBeUndefined();
  used.steps = 2;
  used.spend(usage);
  expect(used.over).toBe(reason);
});

test('sub-agents may use what is left of the limits that were given, and have none of their own otherwise', () => {
  expect(budget().left).toBeUndefined();
  expect(budget({ steps: 5 }).left).toBeUndefined();
  const used = budget({ tokens: 250, costUsd: 0.2 });
  used.spend(usage);
  expect(used.left).toEqual({ tokens: 150, costUsd: 0 });
});

test('what has no price lifts no cost limit, neither for the turn nor for its sub-agents nor in its next run', () => {
  const used = budget({ costUsd: 5 });
  used.spend({ ...usage, costUsd: 4.5 });
  used.spend({ ...usage, costUsd: null });
  expect(used.over).toBeUndefined();
  expect(used.left).toEqual({ costUsd: 0.5 });
  const next = new TurnBudget({ settings: { limits: { costUsd: 5 } } } as never, used.record);
  for (const each of [used, next]) {
    each.spend(usage);
    expect(each.over).toBe('cost_limit');
    expect(each.left).toEqual({ costUsd: 0 });
    expect(each.usage?.costUsd).toBeNull();
  }
});

test('what sub-agents took counts by the part that has a price', () => {
  const used = budget({ costUsd: 5 });
  used.spend({ ...usage, costUsd: null, pricedUsd: 4.5 });
  expect([used.over, used.left]).toEqual([undefined, { costUsd: 0.5 }]);
  used.spend(usage);
  expect([used.over, used.left]).toEqual(['cost_limit', { costUsd: 0 }]);
});

test('a call beyond the limit is refused with what is allowed; calls that the turn runs itself count as well', () => {
  const used = budget({ toolCalls: 2 });
  expect(used.takeCall()).toBe(1);
  used.countOwn();
  expect(used.takeCall()).toBe(0);
  expect(used.takeCall()).toMatchObject({ code: 'budget_exceeded', facts: { allowed: 2 } });
  expect(used.callsOfActivities).toBe(2);
});

test('the next run goes on with what was used: limits count for the turn, however many runs it has', () => {
  const first = budget({ steps: 3, formatRepairs: 1 });
  first.steps = 3;
  first.repairs = 2;
  first.takeCall();
  first.spend(usage);
  const { record } = first;
  const next = new TurnBudget({ settings: { limits: { steps: 3, formatRepairs: 1 } } } as never, record);
  expect(next.record).toEqual(record);
  expect(next.over).toBe('step_limit');
  expect(next.repairsLeft).toBe(-1);
});

test('some time is always left, so that a timer of none is never set', () => {
  const record = { steps: 0, calls: 0, ownCalls: 0, repairs: 0, usage: null, startedAt: Date.now() - 60_000 };
  const late = new TurnBudget({ settings: { limits: { wallMs: 1_000 } } } as never, record);
  expect(late.wallMsLeft).toBe(1);
});
