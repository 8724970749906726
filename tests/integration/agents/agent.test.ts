import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { AgentHandle } from '../../../client/agents/agent-handle';
import { HostNamespaces } from '../../../client/hosts/host-namespaces';
import type { HoldfastClient } from '../../../client/holdfast-client';
import type { Message } from '../../../contracts/agents/agent';
import { readTree } from '../../../exec/tree-record';
import { sessionPaths } from '../../../exec/session-paths';
import { isAlive } from '../../../system/processes/process-identity';
import {
  call,
  scratch,
  testClient,
  uniqueId,
  type Reply,
  type Scratch,
} from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

let client: HoldfastClient;
let files: Scratch;
let late: AgentHandle;

beforeAll(async () => {
  client = await testClient();
  files = scratch();
  const replies = [
    { text: exec({ runtime: 'terminal', code: 'sleep 1000' }) },
    { delayMs: 600_000, text: 'late' },
  ];
  late = client.agent(uniqueId('late'));
  // Its time passes while the other tests run. Long enough for its command to begin on a busy machine.
  await late.start({ task: 'x', ...settings(replies), limits: { wallMs: 20_000 } });
});
afterAll(async () => {
  await client.close();
  files.remove();
});

const settings = (replies: Reply[]): ReturnType<Scratch['settings']> => files.settings(replies);

const exec = (args: object): string => call('code_execution_tool', args);

async function contents(agent: string): Promise<string[]> {
  const { messages } = await client.agent(agent).transcript();
  return messages
    .filter((m): m is Extract<Message, { role: 'tool' }> => m.role === 'tool')
    .map((m) => m.content);
}

test('a task runs tools in its sessions, answers, closes its sessions and returns the answer as its result', async () => {
  const id = uniqueId('task');
  const agent = client.agent(id);
  await agent.start({
    task: 'Say hello',
    ...settings([
      { text: exec({ runtime: 'terminal', code: 'export NAME=world; echo ready' }) },
      {
        expect: 'ready.*exit code 0',
        text: exec({ runtime: 'python', session: 0, code: 'import os\nos.environ["NAME"]' }),
      },
      { expect: "'world'", text: 'hello world' },
    ]),
  });
  expect(await agent.result()).toEqual({ answer: 'hello world', reason: 'answered', error: null, steps: 3 });
  const session = client.session({ agent: id, session: 0 });
  expect(await client.temporal.workflow.getHandle(session.workflowId).result()).toBeUndefined();
  expect(await session.state()).toMatchObject({ status: 'closed' });
});

test('the replies of the tools’ own documents run unchanged', async () => {
  const seeds = join(__dirname, '..', '..', 'fixtures');
  const install = readFileSync(join(seeds, 'reply-install.json'), 'utf8');
  const look = readFileSync(join(seeds, 'reply-output.json'), 'utf8');
  const answer = readFileSync(join(seeds, 'reply-input.json'), 'utf8');
  const id = uniqueId('seeds');
  const prompt =
    'read -r -p \'All dependencies will be installed. Do you agree? [Y/n]: \' a; echo "agreed: $a"';
  await client.agent(id).start({
    task: 'Install',
    ...settings([
      // pip itself is replaced for this test, which checks that the reply runs unchanged.
      { text: exec({ runtime: 'terminal', code: 'pip() { echo "pip $*"; }' }) },
      { text: install },
      { expect: 'pip install pandas', text: exec({ runtime: 'terminal', session: 1, code: prompt }) },
      { expect: 'waiting for input', text: look },
      { expect: 'waiting for input', text: answer },
      { expect: 'agreed: Y', text: 'done' },
    ]),
  });
  expect(await client.agent(id).result()).toMatchObject({ answer: 'done', reason: 'answered' });
});

test('a malformed reply never runs: the model is told what is wrong and the attempts that are left', async () => {
  const id = uniqueId('repair');
  const cut = exec({ runtime: 'terminal', code: 'touch malformed-ran' }).slice(0, -2);
  await client.agent(id).start({
    task: 'x',
    ...settings([
      { text: cut },
      {
        expect: 'does not end.*2 attempts',
        text: exec({ runtime: 'terminal', code: 'ls malformed-ran || echo absent' }),
      },
      { expect: 'absent', text: 'mended' },
    ]),
  });
  expect(await client.agent(id).result()).toMatchObject({ answer: 'mended' });
});

test('a model that stays malformed ends the turn as format_error, and the task fails with the reason', async () => {
  const agent = client.agent(uniqueId('malformed'));
  const bad = { text: '{"tool_name": "code_execution_tool", "tool_args": ' };
  await agent.start({ task: 'x', ...settings([bad, bad, bad, bad, bad]) });
  await expect(agent.result()).rejects.toMatchObject({ code: 'format_error', facts: { attempts: 4 } });
});

test('a model that calls only tools that do not exist ends the turn as format_error, and is told which one it may mean', async () => {
  const agent = client.agent(uniqueId('unknown'));
  const wrong = { text: call('functions.Code-Execution_tool', {}) };
  const replies = [wrong, { ...wrong, expect: 'did you mean code_execution_tool' }, wrong, wrong, wrong];
  await agent.start({ task: 'x', ...settings(replies) });
  await expect(agent.result()).rejects.toMatchObject({ code: 'format_error', facts: { attempts: 4 } });
});

test('a call that the model can correct comes back as an error that names what is allowed', async () => {
  const id = uniqueId('mend');
  await client.agent(id).start({
    task: 'x',
    ...settings([
      { text: call('no_such_tool', {}) },
      { expect: 'unknown_tool.*code_execution_tool, .*input', text: exec({ runtime: 'ruby', code: 'x' }) },
      {
        expect: 'runtime.*terminal, python, nodejs, output, reset',
        text: exec({ runtime: 'terminal', session: -1, code: 'x' }),
      },
      { expect: 'got -1, allowed a whole number', text: exec({ runtime: 'terminal' }) },
      {
        expect: '"code" is invalid: got "", .*: must hold at least one command',
        text: call('input', { session: 0, keyboard: 'x' }),
      },
      {
        expect: 'not_found|no_running_process',
        text: exec({ runtime: 'terminal', reset: 'false', code: 'x' }),
      },
      { expect: 'unknown keys reset', text: 'enough' },
    ]),
  });
  expect(await client.agent(id).result()).toMatchObject({ answer: 'enough' });
  expect(await contents(id)).toHaveLength(6);
});

test.each(['output', 'reset'])(
  '%s of a session that was never used says so, and is no error',
  async (runtime) => {
    const id = uniqueId('unused');
    const replies = [
      { text: exec({ runtime, session: 3 }) },
      { expect: '^\\[nothing was run yet', text: 'seen' },
    ];
    await client.agent(id).start({ task: 'x', ...settings(replies) });
    expect(await client.agent(id).result()).toMatchObject({ answer: 'seen' });
  },
);

test('a command to a busy session comes back as busy with the recent output', async () => {
  const id = uniqueId('busy');
  await client.agent(id).start({
    task: 'x',
    ...settings([
      { text: exec({ runtime: 'terminal', code: 'echo working; read -r x' }) },
      { text: exec({ runtime: 'terminal', code: 'echo intruder' }) },
      { expect: 'Error busy', text: 'ok' },
    ]),
  });
  await client.agent(id).result();
  const [, second] = await contents(id);
  expect(second).toContain('working');
});

test('a scripted model without a reply left fails the task and shows both sides', async () => {
  const agent = client.agent(uniqueId('exhausted'));
  await agent.start({ task: 'the only message', ...settings([]) });
  await expect(agent.result()).rejects.toThrow(
    /no reply left: got call 1, allowed 0. The last message was: the only message/,
  );
});

test('the step limit ends a turn with its reason, and the task still closes its sessions', async () => {
  const id = uniqueId('limit');
  const step = { text: exec({ runtime: 'terminal', code: 'true' }) };
  await client.agent(id).start({ task: 'x', ...settings([step, step, step]), limits: { steps: 2 } });
  expect(await client.agent(id).result()).toEqual({
    answer: null,
    reason: 'step_limit',
    error: null,
    steps: 2,
  });
  expect(await client.session({ agent: id, session: 0 }).state()).toMatchObject({ status: 'closed' });
});

test('the wall-time limit ends a turn in the middle of a step, and kills what it ran', async () => {
  expect(await late.result()).toMatchObject({ answer: null, reason: 'time_limit', error: null });
  const { view } = await client.session({ agent: late.id, session: 0 }).state();
  expect(view).toMatchObject({ state: 'exited', killedBy: { by: 'closed' } });
});

test('a conversation keeps its sessions and its messages between turns until it is stopped', async () => {
  const id = uniqueId('talk');
  const agent = client.agent(id);
  await agent.start({
    mode: 'conversation',
    ...settings([
      { text: exec({ runtime: 'terminal', code: 'export SEEN=first' }) },
      { text: 'first answer' },
      { expect: 'second', text: exec({ runtime: 'terminal', code: 'echo "[$SEEN]"' }) },
      { expect: '\\[first\\]', text: 'second answer' },
    ]),
  });
  expect(await agent.send('first')).toMatchObject({ answer: 'first answer' });
  expect(await agent.send('second')).toMatchObject({ answer: 'second answer' });
  expect(await agent.state()).toMatchObject({ status: 'idle', turns: 2, sessions: [0] });
  await agent.stop('enough');
  expect(await agent.result()).toMatchObject({ answer: 'second answer' });
  expect(await client.session({ agent: id, session: 0 }).state()).toMatchObject({ status: 'closed' });
});

test('stop ends a running turn, kills what its tools run, and keeps the messages', async () => {
  const id = uniqueId('stop');
  const agent = client.agent(id);
  const code = 'sleep 1000';
  await agent.start({
    task: 'x',
    ...settings([{ text: exec({ runtime: 'terminal', code }) }, { delayMs: 600_000, text: 'late' }]),
  });
  for await (const { message } of agent.follow()) if (message.role === 'tool') break;
  const session = client.session({ agent: id, session: 0 });
  const shell = readTree(sessionPaths(process.env.HOLDFAST_TEST_DATA ?? '', session.ref))?.leader;
  expect(shell && isAlive(shell)).toBe(true);
  await agent.stop('changed my mind');
  expect(await agent.result()).toMatchObject({ reason: 'stopped', steps: 2 });
  const { view } = await session.state();
  expect(view).toMatchObject({ state: 'exited', killedBy: { by: 'closed', reason: 'changed my mind' } });
  expect(shell && isAlive(shell)).toBe(false);
  expect((await agent.transcript()).messages.map((m) => m.role)).toEqual(['user', 'assistant', 'tool']);
});

test('an agent started from plain JSON by another SDK with a faulty input fails with every fault named', async () => {
  const workflowId = `agent/${uniqueId('plain')}`;
  const handle = await client.temporal.workflow.start('agent', {
    workflowId,
    taskQueue: 'holdfast',
    args: [{ task: '', modle: 'scripted:x' }],
  });
  const failure = (await handle.result().catch((err: Error) => err.cause)) as Error;
  expect(failure.message).toMatch(
    /"\/task" got an empty text.*"\/model" must be a string.*unknown keys modle/,
  );
});

test('an id that an earlier agent used runs its commands again', async () => {
  const agent = client.agent(uniqueId('again'));
  const replies = [{ text: exec({ runtime: 'terminal', code: 'echo x >> ran-again' }) }, { text: 'done' }];
  await agent.start({ task: 'x', ...settings(replies) });
  await agent.result();
  await agent.start({ task: 'x', ...settings(replies) });
  await agent.result();
  expect(readFileSync(join(files.directory, 'ran-again'), 'utf8')).toBe('x\nx\n');
});

test('the same start again starts nothing, also once this and another agent have ended; other content under its id is refused', async () => {
  const id = uniqueId('same-start');
  const agent = client.agent(id);
  const code = `echo x >> ran-${id}`;
  const input = { task: 'x', ...settings([{ text: exec({ runtime: 'terminal', code }) }, { text: 'done' }]) };
  await Promise.all([agent.start(input, id), agent.start(input, id)]);
  const { answer } = await agent.result();
  await agent.start(input, id);
  expect(await agent.result()).toMatchObject({ answer });
  const other = { code: 'id_conflict', facts: { got: id } };
  await expect(agent.start({ ...input, task: 'y' }, id)).rejects.toMatchObject(other);
  await expect(agent.fork(id, {}, id)).rejects.toMatchObject(other);
  expect(readFileSync(join(files.directory, `ran-${id}`), 'utf8')).toBe('x\n');
  const later = uniqueId('another');
  await agent.start(input, later);
  await agent.result();
  // A queue delivers the first one again.
  const query = `WorkflowId = "${agent.workflowId}"`;
  await until(async () => (await client.temporal.workflow.count(query)).count === 2);
  await agent.start(input, id);
  await expect(agent.start({ ...input, task: 'y' }, id)).rejects.toMatchObject(other);
  await agent.start(input, later);
  expect(readFileSync(join(files.directory, `ran-${id}`), 'utf8')).toBe('x\nx\n');
});

test('a message under the id of another is refused, whichever way it is sent; the same again is accepted once', async () => {
  const agent = client.agent(uniqueId('posted'));
  await agent.start({ mode: 'conversation', ...settings([{ text: 'one' }, { text: 'two' }]) });
  await agent.post('first', { id: 'm' });
  await agent.post('first', { id: 'm' });
  await expect(agent.post('second', { id: 'm' })).rejects.toMatchObject({ code: 'id_conflict' });
  const isAnswered = async (): Promise<boolean> => (await agent.state()).lastResult?.answer === 'one';
  await until(isAnswered);
  expect(await agent.send('second')).toMatchObject({ answer: 'two' });
  await agent.stop();
});

test('an agent that has ended is told from one that never was', async () => {
  const agent = client.agent(uniqueId('over'));
  const { workflowId } = agent;
  const told = (what: string): unknown => expect.stringContaining(`The agent ${what}: got ${workflowId}.`);
  const send = (): Promise<unknown> => agent.send('x');
  await expect(send()).rejects.toMatchObject({ code: 'not_found', message: told('does not exist') });
  await agent.start({ mode: 'conversation', ...settings([]) });
  await agent.stop();
  await agent.result();
  await expect(send()).rejects.toMatchObject({ code: 'not_found', message: told('has ended') });
});

test('an agent’s id is accepted once: a second start is refused and the first continues', async () => {
  const id = uniqueId('taken');
  await client.agent(id).start({ mode: 'conversation', ...settings([{ text: 'hi' }]) });
  const second = client.agent(id).start({ mode: 'conversation', ...settings([]) });
  await expect(second).rejects.toMatchObject({ code: 'id_conflict' });
  expect(await client.agent(id).send('x')).toMatchObject({ answer: 'hi' });
  await client.agent(id).stop();
});

/** A handle whose first start loses its answer, after `meanwhile`. */
function losingAnswer(id: string, meanwhile: () => Promise<unknown> = () => Promise.resolve()): AgentHandle {
  let starts = 0;
  const workflow = new Proxy(client.temporal.workflow, {
    get(target, key): unknown {
      if (key !== 'start') return Reflect.get(target, key) as unknown;
      return async (...args: Parameters<typeof target.start>): Promise<unknown> => {
        const handle = await target.start(...args);
        if (++starts > 1) return handle;
        await meanwhile();
        // As gRPC says it when the connection breaks before the answer is there.
        throw Object.assign(new Error('cut'), { code: 14, details: 'cut', metadata: {} });
      };
    },
  });
  const temporal = Object.create(client.temporal, {
    workflow: { value: workflow },
  }) as typeof client.temporal;
  return new AgentHandle(new HostNamespaces(temporal, client.server), id, client.server);
}

test('a start whose answer is lost is sent again and starts one agent', async () => {
  const id = uniqueId('lost-answer');
  await losingAnswer(id).start({ mode: 'conversation', ...settings([{ text: 'hi' }]) });
  expect(await client.agent(id).send('x')).toMatchObject({ answer: 'hi' });
  await client.agent(id).stop();
});

test('a start whose answer is lost until the agent has ended starts it once', async () => {
  const id = uniqueId('lost-end');
  const code = `echo x >> ran-${id}`;
  const replies = [{ text: exec({ runtime: 'terminal', code }) }, { text: 'done' }];
  await losingAnswer(id, () => client.agent(id).result()).start({ task: 'x', ...settings(replies) });
  expect(await client.agent(id).result()).toMatchObject({ answer: 'done' });
  expect(readFileSync(join(files.directory, `ran-${id}`), 'utf8')).toBe('x\n');
});

test.each([
  ['cancelled', 'it was cancelled', (h: WorkflowHandle): Promise<unknown> => h.cancel()],
  ['terminated', 'it was terminated', (h: WorkflowHandle): Promise<unknown> => h.terminate('enough')],
])('a caller waiting for an agent that is %s is told so', async (_, how, end) => {
  const agent = client.agent(uniqueId('ended'));
  await agent.start({ mode: 'conversation', ...settings([]) });
  const told = expect(agent.result()).rejects.toMatchObject({
    code: 'agent_ended',
    message: expect.stringContaining(how) as string,
  });
  await end(client.temporal.workflow.getHandle(agent.workflowId));
  await told;
});

test('a step with one quick command writes at most 30 events across turn and session', async () => {
  const id = uniqueId('events');
  const step = { text: exec({ runtime: 'terminal', code: 'true' }) };
  const count = async (workflowId: string): Promise<number> =>
    (await client.temporal.workflow.getHandle(workflowId).describe()).historyLength;
  const events = async (steps: number): Promise<number> => {
    const agent = client.agent(`${id}-${steps}`);
    const replies = [...Array.from({ length: steps }, () => step), { text: 'done' }];
    await agent.start({ task: 'x', ...settings(replies) });
    await agent.result();
    return (await count(`agent/${id}-${steps}/turn/1`)) + (await count(`exec/${id}-${steps}/local/0`));
  };
  // The difference of two lengths: what opening and closing cost falls out.
  const perStep = ((await events(6)) - (await events(2))) / 4;
  expect(perStep).toBeGreaterThan(10);
  expect(perStep).toBeLessThanOrEqual(30);
});
