// What is made of a usage that an own provider has left incomplete, in a history of a release that did not check it.
import type { Usage } from '../../../contracts/agents/agent';
import { addUsage, wholeUsage } from '../../../contracts/models/usage';
import { agentEndedSchema } from '../../../contracts/schemas/agent';
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
