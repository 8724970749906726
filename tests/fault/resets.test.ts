// The server's own reset, as operators order it in the web UI: the run is closed as terminated, and another goes on.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporal } from '@temporalio/proto';
import { findEvents } from '../../activities/webhooks/event-sources';
import { lookForEvents } from '../../activities/webhooks/look-for-events';
import type { AgentState } from '../../contracts/agents/agent';
import type { HoldfastClient } from '../../client/holdfast-client';
import { agentWorkflowId, LOCAL_HOST } from '../../contracts/ids';
import type { FollowPlace } from '../../client/agents/follow-agent';
import type { AgentHandle } from '../../client/agents/agent-handle';
import { usageReport } from '../../gateway/usage/usage-report';
import type { WebhookStore } from '../../system/webhooks/webhook-store';
import { SubAgentSweep } from '../../workers/agents/sub-agent-sweep';
import { call, scratch, testClient, uniqueId, type Reply, type Scratch } from '../helpers/engines/temporal';
import { until } from '../helpers/until';

const { RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL: SIGNAL, RESET_REAPPLY_EXCLUDE_TYPE_UPDATE: UPDATE } =
  temporal.api.enums.v1.ResetReapplyExcludeType;

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

/**
 * To before the workflow task that followed the end of so many of its turns, by default with the messages since then.
 * Returns the run that was terminated.
 */
async function reset(agent: string, turns: number, dropped: number[] = []): Promise<string> {
  const workflowId = agentWorkflowId(agent);
  const handle = client.temporal.workflow.getHandle(workflowId);
  const { runId } = await handle.describe();
  const { events } = await handle.fetchHistory();
  let ended = 0;
  const to = events?.find((event) => {
    if (event.childWorkflowExecutionCompletedEventAttributes) ended += 1;
    return ended === turns && event.workflowTaskCompletedEventAttributes;
  });
  await client.temporal.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId, runId },
    reason: 'an operator winds it back',
    workflowTaskFinishEventId: to?.eventId ?? null,
    requestId: uniqueId('reset'),
    resetReapplyExcludeTypes: dropped,
  });
  const query = `WorkflowId = "${workflowId}" AND ExecutionStatus = "Terminated"`;
  await until(async () => (await client.temporal.workflow.count(query)).count > 0);
  return runId;
}

test('a parent is not told that a sub-agent has ended which was reset, and gets its answer', async () => {
  const parent = client.agent(uniqueId('winds-back'));
  await parent.start({ mode: 'conversation', model: files.model([{ text: 'one' }]) });
  const model = files.model([{ delayMs: 15_000, text: 'late' }]);
  const child = await parent.spawn({ key: 'k', role: 'child', prompt: 'x', model });
  await until(async () => (await client.agent(child).ownState()).currentTurn !== null);
  await reset(child, 0);
  await new SubAgentSweep(client.temporal, () => undefined).look();
  expect((await parent.ownState()).agents).toMatchObject([{ agentId: child, status: 'running' }]);
  const { results } = await parent.waitForAgents({ agentIds: [child] });
  expect(results[child]).toMatchObject({ status: 'ended', reason: 'answered', answer: 'late' });
  await parent.stop();
}, 120_000);

test('an agent that is reset goes on for those that wait for it, and counts no turn twice', async () => {
  const agent = client.agent(uniqueId('wound-back'));
  const usage = (inputTokens: number): object => ({ usage: { inputTokens, outputTokens: 0 } });
  const replies = [
    { text: 'one', ...usage(100) },
    { text: 'two', ...usage(7) },
  ];
  await agent.start({ mode: 'conversation', model: files.model(replies) });
  await agent.send('first');
  await agent.send('second');
  const over = jest.fn();
  const result = agent.result().finally(over);
  await reset(agent.id, 1);
  // Messages after that point are delivered again.
  await until(async () => (await agent.ownState()).turns === 2 && (await agent.ownState()).status === 'idle');
  expect(over).not.toHaveBeenCalled();
  await agent.stop();
  expect(await result).toMatchObject({ reason: 'answered', answer: 'two' });
  // Begun after the reset.
  expect(await agent.result()).toMatchObject({ answer: 'two' });
  const caller = { id: 't', name: 'n', role: 'viewer', agents: [agent.id], expiresAt: null } as const;
  expect((await usageReport({ client }, caller)).total).toMatchObject({ inputTokens: 107 });
}, 120_000);

test('an agent that is terminated after a reset has ended for those that wait for it', async () => {
  const agent = client.agent(uniqueId('terminated'));
  await agent.start({ mode: 'conversation', model: files.model([{ text: 'one' }]) });
  await agent.send('first');
  const result = agent.result();
  result.catch(() => undefined);
  await reset(agent.id, 1);
  await client.temporal.workflow.getHandle(agent.workflowId).terminate('too dear');
  await expect(result).rejects.toMatchObject({
    code: 'agent_ended',
    message: expect.stringContaining('too dear') as unknown,
  });
}, 60_000);

test('a message that is answered while its agent is reset gets its answer', async () => {
  const agent = client.agent(uniqueId('mid-turn'));
  await agent.start({
    mode: 'conversation',
    model: files.model([{ text: 'one' }, { delayMs: 5_000, text: 'two' }]),
  });
  await agent.send('first');
  const answer = agent.send('second');
  await until(async () => (await agent.ownState()).turns === 2);
  await reset(agent.id, 1);
  expect(await answer).toMatchObject({ reason: 'answered', answer: 'two' });
  await agent.stop();
}, 120_000);

test('followers of an agent that is reset see what it does from there', async () => {
  const agent = client.agent(uniqueId('followed'));
  await agent.start({
    mode: 'conversation',
    model: files.model([{ text: 'one' }, { text: 'two' }, { text: 'three' }]),
  });
  const seen: string[] = [];
  let turns = 0;
  const onState = (state: AgentState): void => void ({ turns } = state);
  const following = (async () => {
    for await (const { turn, message } of agent.follow(undefined, { onState }))
      if (message.role === 'user') seen.push(`${turn} ${message.text}`);
  })();
  await agent.send('first');
  await agent.send('second');
  await until(() => seen.length === 2);
  await reset(agent.id, 1, [SIGNAL, UPDATE]);
  await until(() => turns === 1);
  await agent.send('another');
  await until(() => seen.length === 3);
  await agent.stop();
  await following;
  expect(seen).toEqual(['1 first', '2 second', '2 another']);
}, 60_000);

/** Follows an agent until it ends; `seen` has its questions, its answers and the ends of its turns. */
function follower(agent: AgentHandle, seen: string[], place?: FollowPlace): Promise<void> {
  const onTurnEnd = (turn: number): void => void seen.push(`${turn} over`);
  return (async () => {
    for await (const { turn, message } of agent.follow(undefined, { onTurnEnd, place })) {
      if (message.role === 'user') seen.push(`${turn} ${message.text}`);
      if (message.role === 'assistant' && message.parsed.kind === 'answer')
        seen.push(`${turn} ${message.parsed.answer}`);
    }
  })();
}

const [ONE, TWO, THREE] = [
  ['1 first', '1 one', '1 over'],
  ['2 second', '2 two', '2 over'],
  ['3 third', '3 three', '3 over'],
];

test.each([
  ['the last turn', ['first', 'second'], [...ONE, ...TWO]],
  ['several turns', ['first', 'second', 'third'], [...ONE, ...TWO, ...THREE]],
])(
  'followers of an agent that runs %s again see that, too',
  async (_, messages, told) => {
    const agent = client.agent(uniqueId('again'));
    const replies = [{ text: 'one' }, { delayMs: 1_000, text: 'two' }, { delayMs: 1_000, text: 'three' }];
    await agent.start({ mode: 'conversation', model: files.model(replies) });
    const seen: string[] = [];
    const following = follower(agent, seen);
    for (const message of messages) await agent.send(message);
    await until(() => seen.length === told.length);
    await reset(agent.id, 1);
    const again = told.slice(ONE.length);
    await until(() => seen.length === told.length + again.length);
    await agent.stop();
    await following;
    expect(seen).toEqual([...told, ...again]);
  },
  60_000,
);

test('followers of a turn that is begun again while it runs see its messages from the first', async () => {
  const agent = client.agent(uniqueId('begun-again'));
  const replies = [{ text: 'one' }, { delayMs: 3_000, text: 'two' }];
  await agent.start({ mode: 'conversation', model: files.model(replies) });
  const seen: string[] = [];
  const following = follower(agent, seen);
  await agent.send('first');
  await agent.post('second');
  await until(() => seen.includes('2 second'));
  await reset(agent.id, 1);
  await until(() => seen.includes('2 over'));
  await agent.stop();
  await following;
  expect(seen).toEqual([...ONE, '2 second', ...TWO]);
}, 60_000);

test('a follower that goes on where another was sees what was reset in between', async () => {
  const agent = client.agent(uniqueId('in-between'));
  const replies = [{ text: 'one' }, { text: 'two' }];
  await agent.start({ mode: 'conversation', model: files.model(replies) });
  await agent.send('first');
  await agent.send('second');
  const { turns, runId } = await agent.ownState();
  await reset(agent.id, 1);
  await until(async () => (await agent.ownState()).turns === 2 && (await agent.ownState()).status === 'idle');
  const seen: string[] = [];
  const following = follower(agent, seen, { turn: turns + 1, index: 0, runId });
  await until(() => seen.includes('2 over'));
  await agent.stop();
  await following;
  expect(seen).toEqual(TWO);
}, 60_000);

test('a webhook is not told that an agent has ended which was reset, but of its end', async () => {
  const since = new Date();
  const agent = client.agent(uniqueId('told'));
  await agent.start({ mode: 'conversation', model: files.model([{ text: 'one' }]) });
  await agent.send('first');
  const terminated = await reset(agent.id, 1);
  const found = await findEvents(client.namespaces, client.temporal, ['agent.ended'], since);
  expect(found.map((one) => one.agent)).toContain(agent.id);
  const store = {
    find: () => ({ events: ['agent.ended'], agents: [agent.id] }),
  } as unknown as WebhookStore;
  const look = {
    ...{ webhook: 'one', since: since.toISOString() },
    cursor: { latest: null, seen: [] },
  };
  const looking = lookForEvents({ client, store }, look, new AbortController().signal);
  await until(async () => (await agent.ownState()).runId !== terminated);
  await agent.stop();
  const { runId } = await agent.run();
  expect((await looking).events).toMatchObject([
    { type: 'agent.ended', data: { agent: agent.id, runId, how: 'completed' } },
  ]);
}, 60_000);

/** Its second turn is run, wound back, and run with other replies. */
async function inOtherWords(replies: (word: string) => Reply[]): Promise<AgentHandle> {
  const agent = client.agent(uniqueId('otherwise'));
  const { model, ...rest } = files.settings(replies('before'));
  await agent.start({ mode: 'conversation', model, ...rest });
  await agent.send('first');
  await agent.send('second');
  await reset(agent.id, 1, [SIGNAL, UPDATE]);
  writeFileSync(model.replace('scripted:', ''), JSON.stringify(replies('after')));
  expect(await agent.send('third')).toMatchObject({ answer: 'two' });
  return agent;
}

test('an agent that is reset to before a turn and then does something else in it runs its command', async () => {
  const run = (code: string): Reply => ({
    text: call('code_execution_tool', { runtime: 'terminal', session: 0, code }),
  });
  const agent = await inOtherWords((word) => [{ text: 'one' }, run(`echo ${word} >> ran`), { text: 'two' }]);
  expect(readFileSync(join(files.directory, 'ran'), 'utf8')).toBe('before\nafter\n');
  await agent.stop();
}, 120_000);

test('an agent that is reset to before a turn and then types and resets something else in it does so', async () => {
  const agent = await inOtherWords((word) => {
    const code = `read a; echo ${word} $a >> typed; read b`;
    return [
      { text: 'one' },
      { text: call('code_execution_tool', { runtime: 'terminal', session: 0, code }) },
      { text: call('input', { session: 0, keyboard: word }) },
      { text: call('code_execution_tool', { runtime: 'reset', session: 0, reason: word }) },
      { text: 'two' },
    ];
  });
  expect(readFileSync(join(files.directory, 'typed'), 'utf8')).toBe('before before\nafter after\n');
  const { view } = await client.session({ agent: agent.id, host: LOCAL_HOST, session: 0 }).state();
  expect(view?.killedBy).toMatchObject({ reason: 'after' });
  await agent.stop();
}, 120_000);
