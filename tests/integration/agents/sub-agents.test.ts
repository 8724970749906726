import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HoldfastClient } from '../../../client/holdfast-client';
import type { Message } from '../../../contracts/agents/agent';
import { lengthenHistory } from '../../helpers/engines/long-history';
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

const settings = (replies: Reply[]): ReturnType<Scratch['settings']> => files.settings(replies);
const spawn = (role: string, replies: Reply[], more: object = {}): string =>
  call('spawn_agent', { role, prompt: `the task of ${role}`, model: files.model(replies), ...more });

async function results(agent: string): Promise<string[]> {
  const { messages } = await client.agent(agent).transcript();
  return messages
    .filter((m): m is Extract<Message, { role: 'tool' }> => m.role === 'tool')
    .map((m) => m.content);
}

test('spawn_agent returns at once; wait_for_agents returns each result under its agent’s id, failures included', async () => {
  const id = uniqueId('parent');
  const [planner, broken] = [`${id}-planner-1`, `${id}-code-reviewer-2`];
  await client.agent(id).start({
    task: 'Plan it',
    ...settings([
      { text: spawn('Planner', [{ delayMs: 300, text: 'first this, then that' }]) },
      { expect: `^${planner}$`, text: spawn('Code Reviewer', [{ fail: 'no key' }]) },
      { expect: `^${broken}$`, text: call('wait_for_agents', { agent_ids: [planner, broken] }) },
      { text: 'done' },
    ]),
  });
  expect(await client.agent(id).result()).toMatchObject({ answer: 'done' });
  expect((await client.agent(id).ownState()).agents).toMatchObject([
    { isCounted: true },
    { isCounted: true },
  ]);
  const [, , waited] = await results(id);
  expect(JSON.parse(waited ?? '')).toMatchObject({
    timedOut: false,
    results: {
      [planner]: { role: 'Planner', status: 'ended', reason: 'answered', answer: 'first this, then that' },
      [broken]: { status: 'ended', reason: 'model_error', answer: null, error: { code: 'model_failed' } },
    },
  });
});

test('a wait for any ends with the first; one that times out leaves the sub-agent running and can be repeated', async () => {
  const id = uniqueId('any');
  const [quick, slow] = [`${id}-quick-1`, `${id}-slow-2`];
  const go = 'while ! [ -e go ]; do sleep 0.05; done; echo gone';
  const slowReplies = [
    { text: call('code_execution_tool', { runtime: 'terminal', code: go }) },
    { text: 'late' },
  ];
  const wait = (more: object): string => call('wait_for_agents', { agent_ids: [quick, slow], ...more });
  await client.agent(id).start({
    task: 'x',
    ...settings([
      { text: spawn('quick', [{ text: 'early' }]) },
      { text: spawn('slow', slowReplies) },
      { text: wait({ mode: 'any' }) },
      { expect: '"status": "running"', text: wait({ timeout_ms: 1 }) },
      {
        expect: '"timedOut": true',
        text: call('code_execution_tool', { runtime: 'terminal', code: 'touch go' }),
      },
      { text: wait({}) },
      { expect: '"answer": "late"', text: 'both' },
    ]),
    yield: { ...QUICK_YIELD, firstOutputMs: 600_000, maxMs: 600_000 },
  });
  expect(await client.agent(id).result()).toMatchObject({ answer: 'both' });
  const [, , first, second] = (await results(id)).map((text) => text.replace(/\s+/g, ' '));
  expect(first).toMatch(/"answer": "early".*"status": "running"|"status": "running".*"answer": "early"/);
  expect(second).toContain('"timedOut": true');
});

test('while a parent waits for two running sub-agents it answers queries and accepts messages, and a sub-agent that waits itself continues', async () => {
  const id = uniqueId('busy');
  const [lead, helper] = [`${id}-lead-1`, `${id}-helper-2`];
  const go = (file: string): Reply => ({
    text: call('code_execution_tool', {
      runtime: 'terminal',
      code: `touch ${file}-at-work; while ! [ -e ${id}-go ]; do sleep 0.05; done; echo gone`,
    }),
  });
  const leadReplies: Reply[] = [
    { text: spawn('below', [go(`${id}-below`), { text: 'from below' }]) },
    { text: call('wait_for_agents', { agent_ids: [`${lead}-below-1`] }) },
    { expect: 'from below', text: 'the lead has it' },
  ];
  const agent = client.agent(id);
  await agent.start({
    mode: 'conversation',
    task: 'x',
    ...settings([
      { text: spawn('lead', leadReplies) },
      { text: spawn('helper', [go(`${id}-helper`), { text: 'the helper has it' }]) },
      { text: call('wait_for_agents', { agent_ids: [lead, helper] }) },
      { expect: 'the lead has it.*the helper has it', text: 'all of it' },
      { expect: 'and now', text: 'the next answer' },
    ]),
    yield: { ...QUICK_YIELD, firstOutputMs: 600_000, maxMs: 600_000 },
  });
  const isAtWork = (file: string): boolean => {
    try {
      readFileSync(join(files.directory, `${file}-at-work`));
      return true;
    } catch {
      return false;
    }
  };
  await until(() => isAtWork(`${id}-below`) && isAtWork(`${id}-helper`));
  expect(await agent.state()).toMatchObject({
    status: 'working',
    agents: [
      { agentId: lead, role: 'lead', status: 'running' },
      { agentId: helper, role: 'helper', status: 'running' },
    ],
  });
  await agent.post('and now?');
  expect(await agent.state()).toMatchObject({ queued: 1 });
  await client.session({ agent: id, session: 9 }, { cwd: files.directory }).exec({ code: `touch ${id}-go` });
  await until(async () => (await agent.state()).lastResult?.answer === 'the next answer');
  const [, , waited] = await results(id);
  expect(waited).toContain('the helper has it');
  await agent.stop();
  await agent.result();
});

test('depth and count are limits of the whole tree: what goes beyond is refused with the limit, and starts nothing', async () => {
  const id = uniqueId('limits');
  const only: Reply[] = [
    { text: spawn('deeper', [{ text: 'never' }]) },
    { expect: 'agents_depth', text: 'I cannot' },
  ];
  await client.agent(id).start({
    task: 'x',
    limits: { agents: 2, depth: 1 },
    ...settings([
      { text: spawn('one', only) },
      { text: spawn('greedy', [], { limits: { agents: 1 } }) },
      { expect: 'agents_limit.*got 3, allowed 2', text: spawn('two', [{ text: 'two' }]) },
      { text: spawn('three', [{ text: 'never' }]) },
      { expect: 'agents_limit', text: call('wait_for_agents', { agent_ids: [`${id}-one-1`] }) },
      { expect: 'I cannot', text: 'done' },
    ]),
  });
  expect(await client.agent(id).result()).toMatchObject({ answer: 'done' });
  expect((await client.agent(id).state()).agents.map(({ role }) => role)).toEqual(['one', 'two']);
});

test('a sub-agent has at most its parent’s tools and limits', async () => {
  const id = uniqueId('narrow');
  const tools = ['spawn_agent', 'wait_for_agents', 'code_execution_tool'];
  await client.agent(id).start({
    task: 'x',
    tools,
    limits: { steps: 10 },
    ...settings([
      { text: spawn('wide', [{ text: 'x' }], { tools: ['fetch'] }) },
      {
        expect: 'tool_not_allowed',
        text: spawn('same', [{ text: 'x' }], { limits: { steps: 50 } }),
      },
      { text: 'done' },
    ]),
  });
  await client.agent(id).result();
  expect((await client.agent(`${id}-same-1`).state()).settings).toMatchObject({
    tools,
    limits: { steps: 10, depth: 2 },
  });
});

test('stop reaches sub-agents of sub-agents, and closes their sessions', async () => {
  const id = uniqueId('stop-tree');
  const below = `${id}-lead-1-worker-1`;
  const sleeps: Reply[] = [
    { text: call('code_execution_tool', { runtime: 'terminal', code: 'sleep 1000' }) },
    { delayMs: 600_000, text: '' },
  ];
  const leadReplies: Reply[] = [
    { text: spawn('worker', sleeps) },
    { text: call('wait_for_agents', { agent_ids: [below] }) },
  ];
  const agent = client.agent(id);
  await agent.start({
    task: 'x',
    ...settings([
      { text: spawn('lead', leadReplies) },
      { text: call('wait_for_agents', { agent_ids: [`${id}-lead-1`] }) },
    ]),
  });
  const session = client.session({ agent: below, session: 0 });
  await until(async () => (await session.state().catch(() => undefined))?.status === 'running');
  await agent.stop('enough');
  expect(await agent.result()).toMatchObject({ reason: 'stopped' });
  expect(await client.agent(below).result()).toMatchObject({ reason: 'stopped' });
  expect(await session.state()).toMatchObject({ status: 'closed', view: { killedBy: { by: 'closed' } } });
});

test('send_message, list_agents and stop_agent reach an agent’s own sub-agents, and nobody else’s', async () => {
  const id = uniqueId('own');
  const child = `${id}-helper-1`;
  const helper: Reply[] = [{ delayMs: 600_000, text: 'never' }];
  await client.agent(id).start({
    task: 'x',
    ...settings([
      { text: spawn('helper', helper) },
      { text: call('list_agents', {}) },
      { expect: `"agent_id": "${child}".*"status": "running"`, text: call('stop_agent', { agent_id: id }) },
      {
        expect: `not_found.*allowed ${child}`,
        text: call('stop_agent', { agent_id: child, reason: 'not needed' }),
      },
      { expect: 'is being stopped', text: call('wait_for_agents', { agent_ids: [child] }) },
      { expect: '"reason": "stopped"', text: call('send_message', { agent_id: child, message: 'x' }) },
      { expect: 'agent_closed', text: 'done' },
    ]),
  });
  expect(await client.agent(id).result()).toMatchObject({ answer: 'done' });
});

test('a message that interrupts has a sub-agent turn to it at once', async () => {
  const id = uniqueId('turn-to');
  const child = `${id}-helper-1`;
  const helper: Reply[] = [
    { text: call('code_execution_tool', { runtime: 'terminal', code: `touch ${id}-at-work` }) },
    // Asked again with the message that interrupts, this does not match, and that ends the helper's task.
    { expect: '(?<![^])(?![^]*rather this)[^]*exit code 0', delayMs: 600_000, text: 'never' },
  ];
  const untilAtWork = `while ! [ -e ${id}-at-work ]; do sleep 0.05; done`;
  await client.agent(id).start({
    task: 'x',
    ...settings([
      { text: spawn('helper', helper) },
      { text: call('code_execution_tool', { runtime: 'terminal', code: untilAtWork }) },
      { text: call('send_message', { agent_id: child, message: 'rather this', mode: 'interrupt' }) },
      { text: call('wait_for_agents', { agent_ids: [child] }) },
      { expect: 'model_script_mismatch.*rather this', text: 'done' },
    ]),
    yield: { ...QUICK_YIELD, firstOutputMs: 600_000, maxMs: 600_000 },
  });
  expect(await client.agent(id).result()).toMatchObject({ answer: 'done' });
  const { messages } = await client.agent(child).transcript();
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
});

test('an agent whose history is long lets a turn of a caller that waits spawn, and be interrupted', async () => {
  const id = uniqueId('long');
  const child = `${id}-helper-1`;
  const agent = client.agent(id);
  const replies = [
    { text: 'ready' },
    { text: spawn('helper', [{ text: 'helped' }]) },
    { expect: `^${child}$`, delayMs: 600_000, text: 'never' },
  ];
  await agent.start({ mode: 'conversation', ...settings(replies) });
  await agent.send('one');
  const { runId } = await agent.state();
  await lengthenHistory(client, id);
  const answered = agent.send('two');
  await until(async () => (await agent.state()).turn?.step === 2);
  expect(await agent.waitForAgents({ agentIds: [child] })).toMatchObject({
    results: { [child]: { answer: 'helped' } },
  });
  await agent.interrupt();
  expect(await answered).toMatchObject({ reason: 'interrupted' });
  await until(async () => (await agent.state()).runId !== runId);
  await agent.stop();
}, 60_000);

test('what a sub-agent has used counts towards the turn that waits again after an interrupted wait', async () => {
  const id = uniqueId('again');
  const go = join(files.directory, `${id}-go`);
  const wait = call('wait_for_agents', { agent_ids: [`${id}-helper-1`] });
  const helper = [
    {
      text: call('code_execution_tool', {
        runtime: 'terminal',
        code: `until [ -e ${go} ]; do sleep 0.05; done`,
      }),
    },
    { text: 'helped', usage: { inputTokens: 100, outputTokens: 1 } },
  ];
  const agent = client.agent(id);
  await agent.start({
    mode: 'conversation',
    ...settings([
      { text: spawn('helper', helper) },
      { text: wait },
      { text: wait },
      { expect: 'helped', text: 'done' },
    ]),
    yield: { ...QUICK_YIELD, firstOutputMs: 600_000, maxMs: 600_000 },
  });
  const untilItWaits = (): Promise<void> =>
    until(async () => (await agent.state()).turn?.waits?.for === 'agents');
  const interrupted = agent.send('one');
  await untilItWaits();
  await agent.interrupt();
  expect(await interrupted).toMatchObject({ reason: 'interrupted' });
  const again = agent.send('two');
  await untilItWaits();
  writeFileSync(go, '');
  expect(await again).toMatchObject({ answer: 'done' });
  expect(await agent.ownState()).toMatchObject({
    agents: [{ isCounted: true }],
    usage: { inputTokens: 100 },
  });
  await agent.stop();
}, 60_000);

test('a script spawns and waits as a model does; only a turn’s wait takes over what a sub-agent has used', async () => {
  const id = uniqueId('script');
  const model = files.model([{ text: 'found' }]);
  const code = [
    'import codex_tools as t',
    `a = t.spawn_agent(role="Finder", prompt="find it", model=${JSON.stringify(model)})`,
    'print(t.wait_for_agents(agent_ids=[a])["results"][a]["answer"])',
  ].join('\n');
  await client.agent(id).start({
    task: 'x',
    ...settings([
      { text: call('code_execution_tool', { runtime: 'python', code }) },
      { expect: 'found.*exit code 0', text: 'done' },
    ]),
    yield: { ...QUICK_YIELD, firstOutputMs: 600_000, maxMs: 600_000 },
  });
  expect(await client.agent(id).result()).toMatchObject({ answer: 'done' });
  expect((await client.agent(id).ownState()).agents).toMatchObject([{ isCounted: false }]);
});
