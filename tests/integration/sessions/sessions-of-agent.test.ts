// What an agent's activities do to its sessions, also when the server tries them again.
import { MockActivityEnvironment } from '@temporalio/testing';
import { createAgentActivities, type AgentDependencies } from '../../../activities/agents/agent-activities';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { call, QUICK_YIELD, scratch, testClient, uniqueId } from '../../helpers/engines/temporal';

const files = scratch();
let client: HoldfastClient;
beforeAll(async () => {
  client = await testClient();
});
afterAll(async () => {
  await client.close();
  files.remove();
});

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

test('a client that waits for a session can answer what an agent asks there, and waits no longer than it said', async () => {
  const id = uniqueId('opened');
  const session = client.session({ agent: id, session: 0 });
  await expect(session.opened({ timeoutMs: 50 })).rejects.toMatchObject({ code: 'not_found' });
  const code = 'read -p "Deploy? " a; echo "deploying: $a"';
  const asks = call('code_execution_tool', { runtime: 'terminal', code });
  const replies = files.settings([{ text: asks, delayMs: 500 }, { text: 'asked' }]);
  await client.agent(id).start({ task: 'go', mode: 'conversation', ...replies });
  expect(await session.opened()).toMatchObject({ agent: id, session: 0 });
  expect(await session.output({ wait: 'needs_input' })).toMatchObject({ state: 'waiting_input' });
  await session.signalInput({ keyboard: 'yes' });
  expect(await session.output({ wait: 'exit' })).toMatchObject({
    output: expect.stringContaining('deploying: yes') as string,
  });
  await client.agent(id).stop();
  await session.closed();
  await expect(session.opened({ timeoutMs: 50 })).rejects.toMatchObject({ facts: { ended: true } });
  await expect(session.opened({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
});
