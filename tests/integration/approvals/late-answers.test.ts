// Answers that come too late, or leave open what they are for, and questions that are not asked any more.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { agentWorkflowId, sessionWorkflowId, turnWorkflowId, MAIN_TASK_QUEUE } from '../../../contracts/ids';
import type { Approval, ShownValue } from '../../../contracts/tools/approvals';
import type { SessionHandle } from '../../../client/session-handle';
import { newCommand, newSessionRecord } from '../../../workflows/session/session-record';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { QUICK_YIELD, scratch, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();
const RULES = '[policy.agents]\nasked = "ask"\n[policy.tools]\nwrite_file = "ask"\n';
const policy = (askSeconds: number): void =>
  engine.configure(`[policy]\nask_timeout_sec = ${askSeconds}\n${RULES}`);

beforeAll(async () => {
  policy(600);
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

const waitingIn = (workflowId: string): Promise<Approval[]> =>
  engine.client.temporal.workflow.getHandle(workflowId).query<Approval[]>('approvals');

async function untilWaits(workflowId: string, count = 1): Promise<Approval[]> {
  let found: Approval[] = [];
  await until(async () => (found = await waitingIn(workflowId).catch(() => [])).length === count);
  return found;
}

test('an answer to an agent that leaves open which of two questions it means fails, and one by hash is for that one', async () => {
  const id = uniqueId('two');
  const path = (name: string): string => join(files.directory, `${id}-${name}`);
  const calls = ['a', 'b'].map((name) => ({
    ...{ id: name, tool: 'write_file' },
    args: { file_path: path(name), content: name },
  }));
  const agent = engine.client.agent(id);
  await agent.start({ task: 'go', dialect: 'native', ...files.settings([{ calls }, { text: 'done' }]) });
  const waiting = await untilWaits(turnWorkflowId(id, 1), 2);
  const handle = engine.client.temporal.workflow.getHandle(agentWorkflowId(id));
  const both = new RegExp(waiting.map((one) => one.id).join(', '));
  for (const vague of [{}, { scope: 'session' }])
    await expect(handle.executeUpdate('approve', { args: [vague] })).rejects.toMatchObject({
      cause: { message: expect.stringMatching(both) as string },
    });
  await handle.executeUpdate('approve', { args: [{ hash: waiting[1]?.hash }] });
  await until(() => existsSync(path('b')));
  expect(existsSync(path('a'))).toBe(false);
  await handle.executeUpdate('deny', { args: [{}] });
  await agent.result();
}, 60_000);

/** A session whose command was held in the run before. */
async function carriedOver(host: string, code: string, values: ShownValue[] = []): Promise<SessionHandle> {
  const ref = { agent: uniqueId('carried'), host, session: 0 };
  const record = newSessionRecord(ref, { cwd: files.directory, yield: QUICK_YIELD });
  const command = newCommand(record, 'held', { code });
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const question: Approval = {
    ...{ id: 'held', what: code, hash: 'a', reasons: [], askedAt: expiresAt, expiresAt, values },
    ...{ agent: ref.agent, place: { host, cwd: files.directory }, runs: 'terminal' },
  };
  const carried = { ...record, command, approvals: { waiting: [question], answers: {}, cleared: [] } };
  await engine.client.temporal.workflow.start('execSession', {
    ...{ workflowId: sessionWorkflowId(ref), taskQueue: MAIN_TASK_QUEUE, args: [undefined, carried] },
  });
  return engine.client.session(ref);
}

test('a question carried over to a run in which the host no longer asks it is gone', async () => {
  const session = await carriedOver('local', 'sleep 1000');
  await until(async () => (await session.state()).status === 'running');
  await until(async () => (await waitingIn(session.workflowId)).length === 0);
  expect((await session.reset({ reason: 'it is over' })).state).toBe('exited');
  await session.close('the test has ended');
}, 60_000);

test('a question carried over is not given in full as long as its host does not ask it again', async () => {
  const cut = { name: 'code', text: 'echo … 99 characters …', bytes: 120, omitted: 99 };
  const { workflowId } = await carriedOver('nowhere', 'echo', [cut]);
  expect(await untilWaits(workflowId)).toMatchObject([{ id: 'held' }]);
  expect(await engine.client.approvals.whole({ workflowId, id: 'held' })).toBeUndefined();
  await engine.client.temporal.workflow.getHandle(workflowId).terminate();
}, 60_000);

test('an approval that no worker took before its question expired approves nothing', async () => {
  await engine.killWorker();
  policy(4);
  await engine.startWorker();
  const ref = { agent: 'asked', host: 'local', session: 0 };
  const session = engine.client.session(ref, { cwd: files.directory });
  const workflowId = sessionWorkflowId(ref);
  const running = session.exec({ code: 'echo ran > late' });
  running.catch(() => undefined);
  const [one] = await untilWaits(workflowId);
  await engine.killWorker();
  await until(() => Date.now() > Date.parse(one?.expiresAt ?? '') + 500);
  const answer = { id: one?.id, hash: one?.hash };
  await engine.client.temporal.workflow.getHandle(workflowId).signal('approve', answer);
  await engine.startWorker();
  await expect(running).rejects.toMatchObject({ code: 'approval_expired' });
  expect(existsSync(join(files.directory, 'late'))).toBe(false);
  expect((await session.state()).refused.join()).toContain('Nothing with this id is waiting');
}, 60_000);
