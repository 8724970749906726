// In which order an agent takes the messages that came while it worked.
import { MessageQueue } from '../../../workflows/agent/conversation/message-queue';

const STOPPED = { reason: 'stopped' } as never;

test('messages are taken in the order in which they came, those of the run before first', () => {
  const queue = new MessageQueue(['task', 'carried']);
  queue.add({ message: 'new', mode: 'queue' });
  expect(queue.record).toEqual({ queue: ['task', 'carried', 'new'] });
  expect([queue.next(), queue.next()].map((next) => next?.message)).toEqual(['task', 'carried']);
  expect(queue.length).toBe(1);
});

test('one that interrupts goes before those that do not, and after earlier ones that do', () => {
  const queue = new MessageQueue(['waits']);
  queue.add({ message: 'first', mode: 'interrupt' });
  queue.add({ message: 'later', mode: 'queue' });
  queue.add({ message: 'second', mode: 'interrupt' });
  expect(queue.record).toEqual({ queue: ['first', 'second', 'waits', 'later'], urgent: 2 });
});

test('messages that interrupt keep their order when their agent continues as new in between', () => {
  const before = new MessageQueue(['waits']);
  before.add({ message: 'first', mode: 'interrupt' });
  const { queue, urgent } = before.record;
  const next = new MessageQueue(queue, urgent);
  next.add({ message: 'second', mode: 'interrupt' });
  expect(next.record).toEqual({ queue: ['first', 'second', 'waits'], urgent: 2 });
});

test('callers that wait are known, and told once none of the messages will be taken', () => {
  const queue = new MessageQueue(['nobody waits for this']);
  expect(queue.isAwaited).toBe(false);
  const told: unknown[] = [];
  queue.add({ message: 'asked', mode: 'queue' }, (result) => told.push(result));
  expect(queue.isAwaited).toBe(true);
  queue.answerAll(STOPPED);
  expect(told).toEqual([STOPPED]);
});
