// What an agent's activities do to its sessions, also when the server tries them again.
import { MockActivityEnvironment } from '@temporalio/testing';
import { createAgentActivities, type AgentDependencies } from '../../../activities/agents/agent-activities';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { QUICK_YIELD, testClient, uniqueId } from '../../helpers/engines/temporal';

let client: HoldfastClient;
beforeAll(async () => {
  client = await testClient();
});
afterAll(() => client.close());

test('a reset of an agent’s sessions that is tried again leaves alone what has begun since', async () => {
  const agent = uniqueId('resets');
  const session = client.session({ agent, session: 0 }, { yield: QUICK_YIELD });
  expect(await session.exec({ code: 'echo before' })).toMatchObject({ output: 'before\n', epoch: 1 });
  const activities = createAgentActivities({ client } as AgentDependencies);
  const input = { agent, host: 'local', sessions: [0], reason: 'it hangs' };
  const workflowExecution = { workflowId: `agent/${agent}`, runId: uniqueId('run') };
  const tried = (attempt: number): Promise<unknown> =>
    new MockActivityEnvironment({ attempt, activityId: '7', workflowExecution }).run(() =>
      activities.resetSessions(input),
    );
  await tried(1);
  const yieldAtOnce = { firstOutputMs: 500, maxMs: 500 };
  expect(await session.exec({ code: 'sleep 1000', yield: yieldAtOnce })).toMatchObject({ epoch: 2 });
  await tried(2);
  expect(await session.output()).toMatchObject({ state: 'running', epoch: 2 });
  await session.close('done');
});
