import { QuotaGate } from '../../../../activities/agents/quota-gate';
import type { Usage } from '../../../../contracts/agents/agent';
import { agentWorkflowId } from '../../../../contracts/ids';
import { countUse, type QuotaRecord } from '../../../../contracts/models/daily-quota';

test('each summary that an agent makes between its turns is counted, and a second attempt at one is not', async () => {
  let record: QuotaRecord = { use: null, counted: [] };
  const gate = new QuotaGate({
    counter: {
      read: () => Promise.resolve(record.use),
      add: (use) => Promise.resolve(void (record = countUse(record, use, 0))),
    },
    limits: () => ({ tokens: 1_000_000, costUsd: null }),
  });
  const usage: Usage = { inputTokens: 90, outputTokens: 10, cachedTokens: 0, costUsd: null };
  const summary = (count: number): Promise<unknown> => {
    const turn = { workflowId: agentWorkflowId('a'), runId: 'run', count: 0, bytes: 0 };
    const call = { agent: 'a', model: 'm', turn, earlier: { runId: 'run', count, bytes: count } };
    return gate.count(call, usage);
  };
  for (const messages of [400, 400, 460]) await summary(messages);
  expect(record.use?.tokens).toBe(200);
});
