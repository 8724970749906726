// Many that are asked the same.
import { askEach, LATE_MS } from '../../../../client/delivery/ask-each';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const never = (): Promise<never> => new Promise(() => undefined);
const fault = new Error('no worker');

test('one that does not answer delays the others by five seconds, and is named', async () => {
  const asked = askEach(['a', 'silent', 'b', 'faulty'], async (one) => {
    if (one === 'silent') return never();
    if (one === 'faulty') throw fault;
    return one.toUpperCase();
  });
  await jest.advanceTimersByTimeAsync(LATE_MS);
  expect(await asked).toEqual({
    answers: ['A', 'B'],
    unanswered: [
      { one: 'silent', reason: undefined },
      { one: 'faulty', reason: fault },
    ],
  });
});

test('where all answer, nobody waits', async () => {
  expect(await askEach([1, 2], async (one) => one)).toEqual({ answers: [1, 2], unanswered: [] });
  expect(await askEach([], never)).toEqual({ answers: [], unanswered: [] });
});

test('where nobody answers in time and one answer is needed, the first is waited for', async () => {
  const later = (ms: number): Promise<string> =>
    new Promise((resolve) => setTimeout(() => resolve(`after ${ms}`), ms));
  const asked = askEach([LATE_MS * 2, LATE_MS * 3], later, { untilOneAnswers: true });
  await jest.advanceTimersByTimeAsync(LATE_MS * 2);
  expect(await asked).toEqual({
    answers: [`after ${LATE_MS * 2}`],
    unanswered: [{ one: LATE_MS * 3, reason: undefined }],
  });
});

test('where all fail and one answer is needed, all reasons are told', async () => {
  const asked = askEach([1, 2], () => Promise.reject(fault), { untilOneAnswers: true });
  expect((await asked).unanswered).toEqual([
    { one: 1, reason: fault },
    { one: 2, reason: fault },
  ]);
});
