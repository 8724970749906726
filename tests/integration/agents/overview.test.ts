// What `state` says: an agent with its turn and its sessions, a turn by itself, and a session before its first look.
import type { AgentState, TurnState } from '../../../contracts/agents/agent';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { AGENT_MESSAGES, TURN_MESSAGES } from '../../../contracts/messages/to-agents';
import { SESSION_MESSAGES } from '../../../contracts/messages/to-sessions';
import type { CommandView } from '../../../contracts/sessions/session';
import {
  call,
  QUICK_YIELD,
  scratch,
  testClient,
  uniqueId,
  type Scratch,
} from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

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

const query = <T>(workflowId: string, name: string): Promise<T> =>
  client.temporal.workflow.getHandle(workflowId).query<T>(name);

test('an agent’s state names its turn, step and sessions, and who waits for what since when', async () => {
  const id = uniqueId('state');
  const agent = client.agent(id);
  const asks = { runtime: 'terminal', session: 1, code: 'read -r answer' };
  const wait = { sessions: [1], for: 'exit', timeout_ms: 600_000 };
  const replies = [
    { text: call('code_execution_tool', asks, 'Ask a person') },
    { text: call('wait', wait, 'Wait for the answer') },
    { text: 'thanks' },
  ];
  await agent.start({ mode: 'conversation', ...files.settings(replies) });
  const session = `exec/${id}/local/1`;
  expect(await agent.state()).toMatchObject({
    status: 'idle',
    waits: { for: 'message', workflowId: `agent/${id}` },
    turn: null,
    shells: [],
  });
  const answered = agent.send('go');
  await until(async () => (await agent.state()).turn?.doing.startsWith('Running wait') ?? false);
  const state = await agent.state();
  expect(state).toMatchObject({
    status: 'working',
    currentTurn: `agent/${id}/turn/1`,
    turn: {
      turn: 1,
      step: 2,
      maxSteps: 100,
      doing: expect.stringContaining('Running wait') as string,
      headline: 'Wait for the answer',
      waits: { for: 'tools', workflowId: `agent/${id}/turn/1` },
      sessions: [{ session: 1, workflowId: session, fact: 'waiting for input' }],
    },
    shells: [{ session: 1, host: 'local', workflowId: session, status: 'waiting_input' }],
    waits: { for: 'input', workflowId: session },
  });
  expect(Date.parse(state.waits?.since ?? '')).toBeGreaterThanOrEqual(Date.parse(state.since ?? ''));

  const raw = await query<AgentState>(`agent/${id}`, AGENT_MESSAGES.state.name);
  expect(raw).toMatchObject({ waits: { for: 'turn', workflowId: `agent/${id}/turn/1` }, shells: [] });

  await client.session({ agent: id, session: 1 }).input({ keyboard: 'yes' });
  await answered;
  const turn = await query<TurnState>(`agent/${id}/turn/1`, TURN_MESSAGES.state.name);
  expect(turn).toMatchObject({ step: 3, doing: 'Ended as answered', waits: null });
  expect(await query<AgentState>(`agent/${id}`, AGENT_MESSAGES.state.name)).toMatchObject({
    shells: [{ host: 'local', session: 1, workflowId: session }],
  });
  await agent.stop();
});

test('the query output says that a command runs before its host has reported on it, and is null where none ran', async () => {
  const session = client.session({ agent: uniqueId('state'), session: 0 }, { yield: QUICK_YIELD });
  const running = session.exec({
    code: 'sleep 1000',
    yield: { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 },
  });
  const output = (): Promise<CommandView | null> => query(session.workflowId, SESSION_MESSAGES.lastView.name);
  await until(async () => (await output().catch(() => null)) !== null);
  expect(await output()).toMatchObject({ state: 'running', exitCode: null, output: '', unseen: true });
  // On a busy machine the host may not have begun it when it is asked for the first time.
  await until(async () => {
    await session.output();
    return !('unseen' in ((await output()) ?? {}));
  });
  await session.reset();
  await running;
  expect(await output()).toMatchObject({ killedBy: { by: 'reset' } });
  await session.close('seen');

  const held = client.session({ agent: uniqueId('state'), session: 0 });
  await held.exec({ code: 'true', yield: QUICK_YIELD });
  expect(await query<CommandView>(held.workflowId, SESSION_MESSAGES.lastView.name)).toMatchObject({
    exitCode: 0,
  });
  await held.close('seen');
});
