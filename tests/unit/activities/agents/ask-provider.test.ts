import { askProvider, MAX_ATTEMPTS } from '../../../../activities/agents/ask-provider';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import type { RawReply } from '../../../../models/provider';

const ask = (
  attempt: number,
  reply: () => Promise<RawReply>,
  signal = new AbortController().signal,
): Promise<RawReply> =>
  askProvider({ model: 'own:m', provider: { reply }, attempt }, { system: '', messages: [], signal });

const fault = new TypeError('x is not a function');
const failing = (): Promise<never> => Promise.reject(fault);

test('what a provider throws is tried again', async () => {
  await expect(ask(1, failing)).rejects.toBe(fault);
  await expect(ask(MAX_ATTEMPTS - 1, failing)).rejects.toBe(fault);
});

test('a provider that throws at each attempt fails the turn after a bounded number of them, and is named', async () => {
  await expect(ask(MAX_ATTEMPTS, failing)).rejects.toMatchObject({
    code: 'model_failed',
    retryable: false,
    message: expect.stringContaining(
      'own:m failed at attempt 10, the last one: x is not a function',
    ) as string,
  });
});

test('an error of the catalogue is tried again for as long as it says, and a cancelled call gives its own', async () => {
  const facts = { model: 'own:m', got: '429', reason: 'slow down' };
  const limited = new HoldfastError('model_rate_limit', facts);
  await expect(ask(1_000, () => Promise.reject(limited))).rejects.toBe(limited);
  await expect(ask(1_000, failing, AbortSignal.abort())).rejects.toBe(fault);
});
