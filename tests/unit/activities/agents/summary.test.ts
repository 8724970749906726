// How often a model is asked for a summary, what is counted of that, and what comes of summaries that are cut off.
import { QuotaGate } from '../../../../activities/agents/quota-gate';
import { summaryOf, type SummaryWork } from '../../../../activities/agents/summary';
import type { Usage } from '../../../../contracts/agents/agent';
import { agentWorkflowId } from '../../../../contracts/ids';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import { countUse, type QuotaRecord } from '../../../../contracts/models/daily-quota';
import type { Compaction, SummaryProgress } from '../../../../contracts/models/model-call';
import type { RawReply } from '../../../../models/provider';

const usage = (inputTokens: number): Usage => ({
  ...{ inputTokens, outputTokens: 0, cachedTokens: 0 },
  costUsd: null,
});
const cut = (tokens: number, text = 'The task'): RawReply => ({ text, isCut: true, usage: usage(tokens) });
const whole = (tokens: number): RawReply => ({ text: 'All.', usage: usage(tokens) });
const refusal: RawReply = { text: 'No.', isRefusal: true, usage: usage(7) };
const away = new HoldfastError('model_overloaded', { model: 'm', got: 503, reason: 'away' });
const tooLong = new HoldfastError('model_context_length', { model: 'm', got: 400, reason: 'long' });

/** A summary of six requests at most, and its attempts. */
class Attempts {
  asked: number[] = [];
  takesCut = false;
  private progress: SummaryProgress = { used: [] };
  private record: QuotaRecord = { use: null, counted: [] };
  /** The counter is away for the answer of this request. */
  lost = 0;
  private readonly gate = new QuotaGate({
    counter: {
      read: () => Promise.resolve(this.record.use),
      add: (use) => Promise.resolve(void (this.record = countUse(this.record, use, 0))),
    },
    limits: () => ({ tokens: 1_000_000, costUsd: null }),
  });

  get counted(): number {
    return this.record.use?.tokens ?? 0;
  }

  attempt(answers: (RawReply | Error)[]): Promise<Compaction> {
    const turn = { workflowId: agentWorkflowId('a'), runId: 'run', count: 0, bytes: 0 };
    const call = { agent: 'a', model: 'm', turn, earlier: { runId: 'run', count: 400, bytes: 4_000 } };
    const work: SummaryWork = {
      // As a heartbeat carries it.
      progress: JSON.parse(JSON.stringify(this.progress)) as SummaryProgress,
      ask: ({ system }) => {
        this.asked.push(Number(system));
        const answer = answers.shift() ?? new Error('no further request was expected');
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
      keep: (progress) => (this.progress = progress),
      count: (used) =>
        used.length === this.lost && this.lost-- > 0
          ? Promise.reject(new Error('the counter is away'))
          : this.gate.count(call, used.at(-1), used.length),
      takesCut: (err) => this.takesCut && err instanceof HoldfastError && !err.retryable,
    };
    const requests = Array.from({ length: 6 }, (_one, n) => ({ system: String(n + 1), messages: [] }));
    return summaryOf(requests, work);
  }
}

test('each request for a summary is counted, also where the summary is refused or stays cut off, and the error tells its usage', async () => {
  const refused = new Attempts();
  await expect(refused.attempt([cut(100), refusal])).rejects.toMatchObject({
    code: 'model_failed',
    message: expect.stringContaining('it refused to sum up: No.') as string,
    facts: usage(107),
  });
  expect(refused.counted).toBe(107);

  const stays = new Attempts();
  await expect(stays.attempt([1, 2, 3, 4, 5, 6].map((n) => cut(n)))).rejects.toMatchObject({
    code: 'model_failed',
    message: expect.stringContaining('cut off at the length limit') as string,
    facts: usage(21),
  });
  expect(stays.counted).toBe(21);
});

test('the usage of a summary is that of all its requests', async () => {
  const attempts = new Attempts();
  expect(await attempts.attempt([cut(100), tooLong, whole(30)])).toEqual({ text: 'All.', usage: usage(130) });
  expect(attempts.counted).toBe(130);
});

test('an attempt goes on after the requests that were answered, and counts each of these once', async () => {
  const attempts = new Attempts();
  await expect(attempts.attempt([cut(100), tooLong, away])).rejects.toMatchObject({
    code: 'model_overloaded',
    facts: usage(100),
  });
  await expect(attempts.attempt([cut(10), away])).rejects.toThrow();
  expect(await attempts.attempt([whole(1)])).toEqual({ text: 'All.', usage: usage(111) });
  expect(attempts.asked).toEqual([1, 2, 3, 3, 4, 4]);
  expect(attempts.counted).toBe(111);
});

test.each([
  ['cut off', [cut(100), whole(10)], 110],
  ['whole', [whole(100)], 100],
])(
  'a summary that was %s when the counter failed is neither asked for again nor left uncounted',
  async (_what, answers, tokens) => {
    const attempts = new Attempts();
    attempts.lost = 1;
    await expect(attempts.attempt(answers.splice(0, 1))).rejects.toThrow('the counter is away');
    const asked = [1, ...answers.map((_answer, n) => n + 2)];
    expect(await attempts.attempt(answers)).toEqual({ text: 'All.', usage: usage(tokens) });
    expect(attempts.asked).toEqual(asked);
    expect(attempts.counted).toBe(tokens);
  },
);

test.each<[string, RawReply[]]>([
  ['all are cut off', [cut(1), cut(2, 'The task is long'), cut(3), cut(4), cut(5), cut(6)]],
  ['a later one is refused', [cut(14, 'The task is long'), refusal]],
  [
    'a later one is empty',
    [cut(7, 'The task is long'), { ...cut(7), text: '<think>So</think>' }, { text: '', usage: usage(7) }],
  ],
])(
  'where half a summary is better than none and %s, the longest that was cut off is the result',
  async (_when, answers) => {
    const attempts = new Attempts();
    attempts.takesCut = true;
    expect(await attempts.attempt(answers)).toEqual({
      text: 'The task is long',
      isCut: true,
      usage: usage(21),
    });
    expect(attempts.counted).toBe(21);
  },
);

test('of two summaries that were cut off the longer one is the result, also over attempts', async () => {
  const attempts = new Attempts();
  attempts.takesCut = true;
  await expect(attempts.attempt([cut(1, 'long enough'), cut(1), away])).rejects.toThrow();
  expect(await attempts.attempt([cut(1), refusal])).toMatchObject({ text: 'long enough', isCut: true });
});
