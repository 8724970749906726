// Many calls that wait for approval at the same time: what is said of them is bounded, whatever they hold.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sessionWorkflowId, turnWorkflowId } from '../../../contracts/ids';
import type { Approval } from '../../../contracts/tools/approvals';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { scratch, uniqueId } from '../../helpers/engines/temporal';
import { count } from '../../helpers/run/long-run';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();

beforeAll(async () => {
  engine.configure('[policy.tools]\nwrite_file = "ask"\n');
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

const folderOf = (name: string): string => {
  const folder = join(files.directory, name);
  mkdirSync(folder);
  return folder;
};

const waitingIn = (workflowId: string): Promise<Approval[]> =>
  engine.client.temporal.workflow.getHandle(workflowId).query<Approval[]>('approvals');

const approveAll = async (workflowId: string): Promise<void> => {
  const [{ id } = { id: '' }] = await waitingIn(workflowId);
  const asker = engine.client.temporal.workflow.getHandle(workflowId);
  await asker.signal('approve', { id, scope: 'session' });
};

/** Bytes of each message about questions that the workflow has sent. */
async function told(workflowId: string): Promise<number[]> {
  const { events } = await engine.client.temporal.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(({ signalExternalWorkflowExecutionInitiatedEventAttributes: sent }) =>
    sent?.signalName === 'questions' ? [sent.input?.payloads?.[0]?.data?.length ?? 0] : [],
  );
}

test('a hundred calls of one reply that wait are told to the agent in one message, and one approval answers all', async () => {
  const folder = folderOf('reply');
  const content = 'x'.repeat(3_000);
  const calls = Array.from({ length: 100 }, (_, n) => ({
    ...{ id: `call_${n}`, tool: 'write_file' },
    args: { file_path: join(folder, `${n}`), content },
  }));
  const id = uniqueId('many');
  const agent = engine.client.agent(id);
  await agent.start({ task: 'go', dialect: 'native', ...files.settings([{ calls }, { text: 'done' }]) });
  const turn = turnWorkflowId(id, 1);
  await until(async () => (await waitingIn(turn).catch(() => [])).length === calls.length);
  const asked = await told(turn);
  expect(asked).toEqual([expect.any(Number)]);
  expect(asked[0]).toBeLessThan(200_000);
  await approveAll(turn);
  expect(await agent.result()).toMatchObject({ answer: 'done' });
  expect(readdirSync(folder)).toHaveLength(calls.length);
}, 120_000);

test('calls of a script that wait are told in messages of bounded size, and one query answers with all of them', async () => {
  const folder = folderOf('script');
  const calls = count(40, 160);
  const agent = uniqueId('script');
  const session = engine.client.session({ agent, host: 'local', session: 0 });
  const code = `
import { write_file } from 'codex-tools';
const write = (n) => write_file({ file_path: ${JSON.stringify(folder)} + '/' + n, content: 'y'.repeat(16_000) });
await Promise.all(Array.from({ length: ${calls} }, (_, n) => write(n)));
`;
  const yielding = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 };
  const running = session.exec({ runtime: 'nodejs', code, yield: yielding });
  const workflowId = sessionWorkflowId({ agent, host: 'local', session: 0 });
  await until(async () => (await waitingIn(workflowId).catch(() => [])).length === calls, 120_000);
  expect(Math.max(...(await told(workflowId)))).toBeLessThan(130_000);
  await approveAll(workflowId);
  expect(await running).toMatchObject({ state: 'exited', exitCode: 0 });
  expect(readdirSync(folder)).toHaveLength(calls);
}, 120_000);
