// The activity that sums up a conversation: its attempts, its quota, and what it returns where there is no room to wait.
import { MockActivityEnvironment } from '@temporalio/testing';
import { CancelledCalls } from '../../../../activities/cancelled-calls';
import {
  createAgentActivities,
  type AgentDependencies,
} from '../../../../activities/agents/agent-activities';
import { ModelMeter } from '../../../../activities/agents/model-meter';
import { QuotaGate } from '../../../../activities/agents/quota-gate';
import type { Usage } from '../../../../contracts/agents/agent';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import { countUse, dayOf, type QuotaRecord } from '../../../../contracts/models/daily-quota';
import type { Compaction, SummaryCall } from '../../../../contracts/models/model-call';
import type { RawReply } from '../../../../models/provider';

const usage: Usage = { inputTokens: 100, outputTokens: 0, cachedTokens: 0, costUsd: null };
const cut: RawReply = { text: 'The task', isCut: true, usage };
const away = new HoldfastError('model_overloaded', { model: 'm', got: 503, reason: 'it is away' });
const call: SummaryCall = {
  ...{ agent: 'a', model: 'm:x', turn: { workflowId: 'agent/a/turn/1', runId: 'run', count: 9, bytes: 90 } },
  earlier: { runId: 'agents-run', count: 0, bytes: 0 },
};

/** A server that keeps the heartbeats of the attempts at a conversation with text for two requests. */
class Attempts {
  asked = 0;
  private attempt = 0;
  private heartbeatDetails: unknown;
  private record: QuotaRecord = { use: null, counted: [] };
  private readonly quota = new QuotaGate({
    counter: {
      read: () => Promise.resolve(this.record.use),
      add: (use) => Promise.resolve(void (this.record = countUse(this.record, use, Date.now()))),
    },
    limits: () => ({ tokens: 100, costUsd: null }),
  });

  get counted(): unknown {
    return this.record.use;
  }

  next(input: SummaryCall, answers: (RawReply | Error)[]): Promise<Compaction> {
    const reply = (): Promise<RawReply> => {
      this.asked += 1;
      const answer = answers.shift() ?? new Error('no further request was expected');
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    };
    const activities = createAgentActivities({
      findProvider: () => ({ reply }),
      transcripts: { read: () => Promise.resolve([{ role: 'user', text: 'x'.repeat(8_000) }]) },
      models: new ModelMeter(),
      quota: this.quota,
      cancelled: new CancelledCalls(),
    } as unknown as AgentDependencies);
    this.attempt += 1;
    const { attempt, heartbeatDetails } = this;
    const retryPolicy = { maximumAttempts: 3 };
    const currentAttemptScheduledTimestampMs = Date.now();
    const environment = new MockActivityEnvironment({
      ...{ attempt, heartbeatDetails, retryPolicy, currentAttemptScheduledTimestampMs },
    });
    environment.on('heartbeat', (details: unknown) => (this.heartbeatDetails = details));
    return environment.run((asked: SummaryCall) => activities.compact(asked), input);
  }
}

test('each request counts, and none that was answered is made again, also where it used up the quota', async () => {
  const attempts = new Attempts();
  await expect(attempts.next(call, [cut, away])).rejects.toMatchObject({
    type: 'model_overloaded',
    nonRetryable: false,
    details: [expect.objectContaining(usage), expect.anything()],
  });
  await expect(attempts.next(call, [{ ...cut, text: 'The tasks' }])).rejects.toMatchObject({
    type: 'model_failed',
    nonRetryable: true,
    details: [expect.objectContaining({ inputTokens: 200 }), expect.anything()],
  });
  expect(attempts.asked).toBe(3);
  expect(attempts.counted).toMatchObject({ day: dayOf(Date.now()), tokens: 200, unpriced: 2 });
});

test('where half a summary is better than none, it is the result when the last attempt fails', async () => {
  const attempts = new Attempts();
  const input = { ...call, takesCut: true } as const;
  for (const answers of [[cut, away], [away]])
    await expect(attempts.next(input, answers)).rejects.toThrow('it is away');
  expect(await attempts.next(input, [away])).toEqual({ text: 'The task', isCut: true, usage });
});
