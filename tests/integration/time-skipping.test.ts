// Days of waiting in seconds: workflows alone, on the time-skipping server, with a host that runs nothing.
import { join } from 'node:path';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { WithStartWorkflowOperation } from '@temporalio/client';
import type { ModelReply } from '../../contracts/agent';
import type { CloseSessionInput, HostActivities, RunCommandInput } from '../../contracts/host';
import type { CommandView } from '../../contracts/session';
import { packageRoot } from '../../exec/package-root';
import { timeSkippingEnvironment } from '../helpers/time-skipping';

const HOUR_MS = 3_600_000;
const isMissing = !process.env.HOLDFAST_TEST_SERVER;
let env: TestWorkflowEnvironment;
let worker: Worker;
let host: Worker;
let running: Promise<unknown>;
let modelCalls = 0;
const closed: string[] = [];

const view = (commandId: string): CommandView => ({
  session: 0,
  commandId,
  state: 'exited',
  exitCode: 0,
  signal: null,
  killedBy: null,
  output: '',
  from: 0,
  to: 0,
  omittedBytes: 0,
  degraded: null,
  survivors: [],
  epoch: 1,
  freshShell: false,
  yielded: null,
  waiting: null,
  treeKill: 'process-search',
  durationMs: 0,
});

const hostActivities: Pick<HostActivities, 'runCommand' | 'closeSession'> = {
  runCommand: async ({ commandId }: RunCommandInput) => view(commandId),
  closeSession: async ({ reason }: CloseSessionInput) => void closed.push(reason ?? ''),
};

const agentActivities = {
  callModel: async (): Promise<ModelReply> => {
    modelCalls += 1;
    const text = 'not JSON but {"tool_name":';
    return { text, parsed: { kind: 'malformed', problem: 'It is cut off.' } };
  },
  closeSessions: async () => undefined,
};

beforeAll(async () => {
  if (isMissing) return;
  env = await timeSkippingEnvironment();
  const searchAttributes = { HoldfastAgent: 2, HoldfastHost: 2, HoldfastSession: 3 };
  await env.connection.operatorService.addSearchAttributes({ namespace: 'default', searchAttributes });
  const { nativeConnection: connection } = env;
  const workflowBundle = { codePath: join(packageRoot(), 'dist', 'workflow-bundle.js') };
  worker = await Worker.create({
    connection,
    taskQueue: 'holdfast',
    workflowBundle,
    activities: agentActivities,
  });
  host = await Worker.create({ connection, taskQueue: 'host.local', activities: hostActivities });
  running = Promise.all([worker.run(), host.run()]);
}, 30_000);

afterAll(async () => {
  if (isMissing) return;
  worker.shutdown();
  host.shutdown();
  await running;
  await env.teardown();
});

/** Without the server these are listed as not checked; the global setup says why it is missing. */
const skippingTest = isMissing ? test.skip : test;

async function hoursOf(workflowId: string): Promise<number> {
  const { startTime, closeTime } = await env.client.workflow.getHandle(workflowId).describe();
  return ((closeTime?.getTime() ?? 0) - startTime.getTime()) / HOUR_MS;
}

skippingTest(
  'a session closes itself after its idle limit, counted from its last command, and not before',
  async () => {
    const startWorkflowOperation = new WithStartWorkflowOperation('execSession', {
      workflowId: 'exec/idle/local/0',
      taskQueue: 'holdfast',
      args: [{ idleMs: 24 * HOUR_MS }],
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    await env.client.workflow.executeUpdateWithStart('exec', {
      args: [{ code: 'true' }],
      startWorkflowOperation,
    });
    await env.sleep(20 * HOUR_MS);
    const handle = env.client.workflow.getHandle('exec/idle/local/0');
    await handle.executeUpdate('exec', { args: [{ code: 'true' }] });
    await handle.result();
    const hours = await hoursOf('exec/idle/local/0');
    expect(hours).toBeGreaterThan(43.9);
    // It looks again after a tenth of the limit at the latest.
    expect(hours).toBeLessThan(47);
    expect(closed).toEqual(['it was idle for too long']);
  },
);

skippingTest('a conversation without a message ends at its idle limit', async () => {
  const args = [{ mode: 'conversation', model: 'scripted:none', idleMs: 3 * HOUR_MS }];
  const options = { workflowId: 'agent/silent', taskQueue: 'holdfast', args };
  await env.client.workflow.execute('agent', options);
  expect(await hoursOf('agent/silent')).toBeCloseTo(3, 1);
});

skippingTest(
  'a model that stays malformed is asked once and repaired as often as the limit says',
  async () => {
    const args = [{ task: 'x', model: 'scripted:none', limits: { formatRepairs: 2 } }];
    const options = { workflowId: 'agent/malformed', taskQueue: 'holdfast', args };
    await expect(env.client.workflow.execute('agent', options)).rejects.toThrow();
    expect(modelCalls).toBe(3);
  },
);
