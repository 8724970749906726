// Questions to workflows that no worker answers at the moment: `ps`, the page and `state` ask all the time.
import { workerLost } from '../../contracts/errors/failure';
import { agentWorkflowId, turnWorkflowId } from '../../contracts/ids';
import { EngineOfItsOwn } from '../helpers/engines/engine-of-its-own';
import { scratch, uniqueId } from '../helpers/engines/temporal';
import { replayAll } from '../helpers/engines/replay-all';
import { until } from '../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();
beforeAll(() => engine.start(), 60_000);
afterAll(async () => {
  files.remove();
  expect(await engine.end()).toEqual([]);
}, 60_000);

/** Longer than a workflow task or a question waits for the worker that had the workflow last. */
const STICKY_MS = 5_000;
/** More than there are tasks: it is likely that one of them is handed out first. */
const QUESTIONS = 8;

test('questions that wait for the next worker are answered, and change nothing of what the workflow does next', async () => {
  const session = engine.client.session({ agent: 'asked', session: 0 });
  const { workflow, activity } = engine.client.temporal;
  const events = async (): Promise<unknown[]> =>
    (await workflow.getHandle(session.workflowId).fetchHistory()).events ?? [];
  // Of one that no worker has taken the server would not hear that it has failed.
  const isTaken = async (): Promise<boolean> => {
    const { raw } = await workflow.getHandle(session.workflowId).describe();
    return raw.pendingActivities?.some(({ lastStartedTime }) => lastStartedTime) ?? false;
  };
  const running = session.exec({ id: 'first', code: 'sleep 4' });
  await until(() => isTaken().catch(() => false));
  await engine.killWorker();
  const answers = Promise.all(Array.from({ length: QUESTIONS }, () => session.state()));
  // What they wait in is no longer the queue of the worker that was killed.
  await new Promise((resolve) => setTimeout(resolve, STICKY_MS));
  // As from the worker of a host that goes on: there is a workflow task now, and a message for it.
  await activity.fail({ workflowId: session.workflowId, activityId: '1' }, workerLost());
  const output = session.output({ from: 0 });
  await until(async () => (await events()).length === 10);
  await engine.startWorker();
  expect((await answers).map(({ session: number }) => number)).toEqual(Array(QUESTIONS).fill(0));
  expect(await output).toMatchObject({ session: 0 });
  expect(await running).toMatchObject({ commandId: 'first', exitCode: 0 });
  expect((await replayAll(engine.client)).failed).toEqual([]);
}, 120_000);

test('what an agent and its turn did can be read after they were terminated with messages that no worker had taken', async () => {
  const id = uniqueId('terminated');
  const agent = engine.client.agent(id);
  await agent.start({ task: 'first', ...files.settings([{ text: 'never', delayMs: 600_000 }]) });
  await until(async () => (await agent.turnPage(1, 0))?.messages.length === 1);
  await engine.killWorker();
  await agent.post('not taken');
  const { workflow } = engine.client.temporal;
  const turn = workflow.getHandle(turnWorkflowId(id, 1));
  await workflow.getHandle(agentWorkflowId(id)).terminate();
  // The server cancels it with its agent.
  await until(async () => {
    const { events = [] } = await turn.fetchHistory();
    return (events ?? []).some((event) => event.workflowExecutionCancelRequestedEventAttributes);
  });
  await turn.terminate();
  await engine.startWorker();
  expect(await agent.state()).toMatchObject({ status: 'ended', messages: 0 });
  const page = await agent.turnPage(1, 0);
  expect(page?.messages).toMatchObject([{ role: 'user', text: 'first' }]);
}, 120_000);
