// How `ps` asks very many workflows, within a time.
import { Questions } from '../../../cli/print/timed-questions';

const MANY = 1_000;
const never = (): Promise<never> => new Promise(() => undefined);

test('no more than sixteen are asked at the same time, and each gets its answer', async () => {
  const questions = new Questions(MANY, Date.now() + 60_000);
  let open = 0;
  let most = 0;
  const ask = (answer: number): Promise<number | undefined> =>
    questions.ask(async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return answer;
    });
  const numbers = Array.from({ length: MANY }, (_, index) => index);
  expect(await Promise.all(numbers.map(ask))).toEqual(numbers);
  expect(most).toBe(16);
});

test('when the time is over nobody is waited for, and nobody else is asked', async () => {
  const questions = new Questions(MANY, Date.now() + 50);
  let asked = 0;
  const ask = (): Promise<undefined> =>
    questions.ask(() => {
      asked += 1;
      return never();
    });
  const answers = await Promise.all(Array.from({ length: MANY }, ask));
  expect(answers.filter((answer) => answer !== undefined)).toEqual([]);
  // A timer may be a moment early: then a few more have their turn.
  expect(asked).toBeLessThanOrEqual(32);
});

test('a question that fails has no answer, and the next is asked', async () => {
  const questions = new Questions(MANY, Date.now() + 60_000);
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      questions.ask(() => (index % 2 ? Promise.reject(new Error('gone')) : Promise.resolve(index))),
    ),
  );
  expect(answers).toEqual(Array.from({ length: 40 }, (_, index) => (index % 2 ? undefined : index)));
});

test('a few are all asked at once, and waited for longer', async () => {
  const questions = new Questions(2, Date.now() - 1);
  expect(questions.areAllAsked).toBe(true);
  expect(await questions.ask(() => Promise.resolve('here'))).toBe('here');
});
