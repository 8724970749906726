// Followers of an agent that cannot say itself that it has ended.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentHandle } from '../../../client/agents/agent-handle';
import type { HoldfastClient } from '../../../client/holdfast-client';
import {
  call,
  QUICK_YIELD,
  scratch,
  testClient,
  uniqueId,
  type Reply,
  type Scratch,
} from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

/** A turn waits for its command. */
const LONG_YIELD = { ...QUICK_YIELD, firstOutputMs: 600_000, maxMs: 600_000 };

let client: HoldfastClient;
let files: Scratch;

beforeAll(async () => {
  client = await testClient();
  files = scratch();
});
afterAll(async () => {
  await client.close();
  files.remove();
});

async function conversation(replies: Reply[]): Promise<AgentHandle> {
  const agent = client.agent(uniqueId('followed'));
  await agent.start({ mode: 'conversation', ...files.settings(replies), yield: LONG_YIELD });
  return agent;
}

const terminate = (agent: AgentHandle): Promise<unknown> =>
  client.temporal.workflow.getHandle(agent.workflowId).terminate('enough');

/** Ends with the agent. */
async function rolesOf(agent: AgentHandle): Promise<string[]> {
  const told: string[] = [];
  for await (const { turn, message } of agent.follow()) told.push(`${turn} ${message.role}`);
  return told;
}

test('who follows an agent that is terminated between two turns is told that it has ended, also later', async () => {
  const agent = await conversation([{ text: 'one' }]);
  const following = rolesOf(agent);
  await agent.send('first');
  await terminate(agent);
  const told = ['1 user', '1 assistant'];
  expect([await following, await rolesOf(agent)]).toEqual([told, told]);
  expect(await agent.state()).toMatchObject({ status: 'ended', waits: null });
});

test('who follows an agent that is terminated in a turn is told what the turn still records, and that it has ended', async () => {
  const begun = join(files.directory, 'begun');
  const code = `touch ${begun}; sleep 600`;
  const agent = await conversation([{ text: call('code_execution_tool', { runtime: 'terminal', code }) }]);
  const following = rolesOf(agent);
  await agent.post('first');
  await until(() => existsSync(begun));
  await terminate(agent);
  const told = await following;
  expect(told.slice(0, 2)).toEqual(['1 user', '1 assistant']);
  const page = await agent.turnPage(1, 0);
  expect(told).toHaveLength(page?.total ?? NaN);
  expect(await agent.state()).toMatchObject({ status: 'ended' });
});
