// Commands that are held up on their way to a session, while it is reset and its workflow goes on in another run.
import { MockActivityEnvironment } from '@temporalio/testing';
import { SessionResets } from '../../../../activities/host/session-resets';

const ref = { agent: 'a', host: 'local', session: 0 };
const inRun = <T>(runId: string, work: () => T): Promise<T> =>
  new MockActivityEnvironment({ workflowExecution: { workflowId: 'exec/a/local/0', runId } }).run(() =>
    Promise.resolve(work()),
  );
const notBegun = /was reset/;

test('a command that is held up does not begin after its reset, also when the next run of its session has sent one since', async () => {
  const resets = new SessionResets();
  const begin = await inRun('run 1', () => resets.arrived(ref, 0));
  await inRun('run 1', () => resets.add(1, 'the session was reset'));
  expect(begin).toThrow(notBegun);
  await inRun('run 2', () => resets.arrived(ref, 1));
  expect(begin).toThrow(notBegun);
  await inRun('run 2', () => resets.add(2, 'the session was reset again'));
  expect(begin).toThrow(notBegun);
});

test('a command that is held up does not begin after a reset by a run that counts its resets anew', async () => {
  const resets = new SessionResets();
  const begin = await inRun('run 1', () => resets.arrived(ref, 5));
  expect(begin).not.toThrow();
  await inRun('run 2', () => resets.add(1, 'the session was reset'));
  expect(begin).toThrow(notBegun);
});

test('a run that counts its resets anew, after a reset of the workflow itself, is not bound by those of the run before', async () => {
  const resets = new SessionResets();
  await inRun('run 1', () => resets.add(5, 'the session was reset'));
  const begin = await inRun('run 2', () => resets.arrived(ref, 2));
  expect(begin).not.toThrow();
  await inRun('run 2', () => resets.add(3, 'the session was reset'));
  expect(begin).toThrow(notBegun);
});
