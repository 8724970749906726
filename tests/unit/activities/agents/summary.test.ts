// What the summary of a conversation costs, and when there is none.
import { summaryOf } from '../../../../activities/agents/summary';
import type { Usage } from '../../../../contracts/agents/agent';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import type { SummaryRequest } from '../../../../models/compaction';
import type { RawReply } from '../../../../models/provider';

const usage = (inputTokens: number, costUsd: number | null): Usage => ({
  inputTokens,
  ...{ outputTokens: 1, cachedTokens: 0, costUsd },
});
const requests: SummaryRequest[] = [1, 2, 3].map((n) => ({ system: String(n), messages: [] }));

/** Asks for a summary; each request gets the next of these replies. */
function summary(...replies: (RawReply | HoldfastError)[]): ReturnType<typeof summaryOf> {
  return summaryOf(requests, ({ system }) => {
    const reply = replies[Number(system) - 1] ?? new Error('asked once too often');
    return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
  });
}

const cut: RawReply = { text: 'The', isCut: true, usage: usage(100, 0.5) };
const tooLong = new HoldfastError('model_context_length', {
  model: 'm',
  got: 400,
  reason: 'too many tokens',
});

test('a summary that was cut off counts with the whole one that was asked for after it', async () => {
  expect(await summary(cut, { text: 'The task.', usage: usage(50, 0.25) })).toEqual({
    text: 'The task.',
    usage: { ...usage(150, 0.75), outputTokens: 2 },
  });
});

test('a summary that was cut off counts also where the whole one says nothing of its usage', async () => {
  expect(await summary(cut, tooLong, { text: 'The task.' })).toEqual({
    text: 'The task.',
    usage: usage(100, 0.5),
  });
});
