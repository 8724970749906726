// A long turn whose next run waits for a checkpoint, on a host whose activities end when the test says so.
import type { WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { AgentHandle } from '../../../client/agents/agent-handle';
import type { AgentResult } from '../../../contracts/agents/agent';
import { quietenRuntime } from '../../../testing/quiet-runtime';
import { testAddress, uniqueId } from '../../helpers/engines/temporal';
import { count } from '../../helpers/run/long-run';
import { until } from '../../helpers/until';
import { AgentsWithFiles, run } from './agents-with-files';

const files = new AgentsWithFiles();
const { engine } = files;
const host = uniqueId('held');
const AT_ONCE = 70;
/** By activity; each has begun and waits for its call here. */
const ends: Record<string, (() => void) | undefined> = {};
const endsLater = (name: string, result: object): Promise<object> =>
  new Promise((resolve) => (ends[name] = () => resolve(result)));

let connection: NativeConnection;
let worker: Worker;
let running: Promise<void>;
beforeAll(async () => {
  quietenRuntime();
  await engine.start();
  connection = await NativeConnection.connect({ address: testAddress() });
  const view = { session: 0, commandId: null, state: 'exited', output: '', from: 0, to: 0, epoch: 1 };
  const kept = { state: 'kept', hash: 'a'.repeat(40), files: 0, bytes: 0, changes: null };
  const activities = {
    runCommand: () => endsLater('command', { ...view, survivors: [] }),
    checkpointWorkspace: ({ before }: { before?: true }) => (before ? kept : endsLater('checkpoint', kept)),
    closeSession: () => undefined,
  };
  const where = { connection, namespace: engine.namespace, taskQueue: `host.${host}` };
  worker = await Worker.create({ ...where, activities });
  running = worker.run();
}, 90_000);
afterAll(async () => {
  for (const end of Object.values(ends)) end?.();
  worker.shutdown();
  await running;
  await connection.close();
  expect(await files.close()).toEqual([]);
}, 60_000);
beforeEach(() => {
  for (const name of Object.keys(ends)) ends[name] = undefined;
  files.begin();
});
afterEach(() => files.end());

interface LongTurn {
  agent: AgentHandle;
  answer: Promise<AgentResult>;
  turn: WorkflowHandle;
}

/** A turn that continues as new once its checkpoint has ended. */
async function longTurn(): Promise<LongTurn> {
  const agent = engine.client.agent(uniqueId('moves-on'));
  const settings = files.settings([run('true'), { text: 'it went on' }]);
  await agent.start({ mode: 'conversation', ...settings, host });
  const answer = agent.send('a');
  await until(() => ends.command !== undefined);
  const turn = engine.client.temporal.workflow.getHandle(`${agent.workflowId}/turn/1`);
  // Signals that change nothing. See start-server.ts for the limit.
  for (let sent = 0; sent < count(420, 2_100); sent += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => turn.signal('agentsEnded')));
  ends.command?.();
  await until(() => ends.checkpoint !== undefined);
  return { agent, answer, turn };
}

test('a turn that is interrupted while its next run waits for a checkpoint ends as interrupted', async () => {
  const { agent, answer, turn } = await longTurn();
  // Answered when the turn has ended.
  const interrupted = agent.interrupt();
  await until(async () => JSON.stringify(await turn.fetchHistory()).includes('"signalName":"interrupt"'));
  ends.checkpoint?.();
  expect(await answer).toMatchObject({ reason: 'interrupted', steps: 1 });
  await interrupted;
  await agent.stop();
  await agent.result();
}, 120_000);

test('a turn that is cancelled while no worker runs, after what its next run waited for, ends as stopped', async () => {
  const { agent, answer, turn } = await longTurn();
  await engine.killWorker();
  ends.checkpoint?.();
  await until(async () => (await turn.describe()).raw.pendingActivities?.length === 0);
  await turn.cancel();
  await engine.startWorker();
  expect(await answer).toMatchObject({ reason: 'stopped', steps: 1 });
  await agent.stop();
  await agent.result();
}, 120_000);
