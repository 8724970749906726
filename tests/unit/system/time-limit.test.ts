import { timeLimit, withinTime } from '../../../system/time-limit';

/** Stands for a thread that gets no processor time: it waits in the kernel. */
const starve = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

test('work is not refused because its thread got no processor time: it runs again, with more', () => {
  let runs = 0;
  const work = (): string => {
    runs += 1;
    starve(50);
    return 'done';
  };

  expect(withinTime(10, work)).toBe('done');

  expect(runs).toBeGreaterThan(1);
});

test('work that uses up its processor time is ended', () => {
  expect(() => withinTime(20, () => /^(a+)+$/.test(`${'a'.repeat(60)}!`))).toThrow(
    'Script execution timed out',
  );
});

test('what the work throws is thrown as it is, at once', () => {
  const error = new SyntaxError('invalid');

  expect(() =>
    withinTime(20, () => {
      throw error;
    }),
  ).toThrow(error);
});

test('a limit is not reached by a thread that got no processor time, and is by one that used it up', () => {
  const isOver = timeLimit(40);
  starve(200);
  expect(isOver()).toBe(false);

  const until = process.cpuUsage().user + 1e6;
  while (!isOver() && process.cpuUsage().user < until);
  expect(isOver()).toBe(true);
});
