import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HoldfastClient } from '../../../client/holdfast-client';
import type { Message } from '../../../contracts/agents/agent';
import { MAIN_TASK_QUEUE, sessionWorkflowId } from '../../../contracts/ids';
import {
  call,
  QUICK_YIELD,
  scratch,
  testClient,
  uniqueId,
  type Reply,
  type Scratch,
} from '../../helpers/engines/temporal';
import { longTest } from '../../helpers/run/long-run';
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
const exec = (args: object): string => call('code_execution_tool', { runtime: 'terminal', ...args });
/** What a message says, or its role. */
function said(message: Message): string {
  if (message.role === 'tool' || message.role === 'checkpoint' || message.role === 'rewind')
    return message.role;
  if (message.role !== 'assistant') return message.text;
  return message.parsed.kind === 'answer' ? message.parsed.answer : message.parsed.kind;
}
/** Matches text that contains `wanted` and not `not`. */
const without = (not: string, wanted: string): string => `(?<![^])(?![^]*(?:${not}))[^]*${wanted}`;
const isThere = (name: string): boolean => existsSync(join(files.directory, name));

describe('a message while a turn is running', () => {
  test('waits for the turn’s end, unless it says otherwise', async () => {
    const agent = client.agent(uniqueId('queue'));
    await agent.start({
      mode: 'conversation',
      ...settings([
        { text: exec({ code: 'touch queue-at-work; while ! [ -e queue-go ]; do sleep 0.05; done' }) },
        { expect: 'exit code 0', text: 'the first answer' },
        { expect: '^second$', text: 'the second answer' },
      ]),
      yield: { ...QUICK_YIELD, firstOutputMs: 600_000, maxMs: 600_000 },
    });
    const first = agent.send('first');
    await until(() => isThere('queue-at-work'));
    const second = agent.send('second');
    await until(async () => (await agent.state()).queued === 1);
    writeFileSync(join(files.directory, 'queue-go'), '');
    expect(await first).toMatchObject({ reason: 'answered', answer: 'the first answer' });
    expect(await second).toMatchObject({ answer: 'the second answer' });
    await agent.stop();
  });

  test('that interrupts cancels the model’s call and takes the turn’s place, before those that wait', async () => {
    const agent = client.agent(uniqueId('interrupt'));
    await agent.start({
      mode: 'conversation',
      ...settings([
        { text: exec({ code: 'echo so far' }) },
        // The repeated request with the next message does not match: that ends the turn.
        { text: 'never', delayMs: 600_000, expect: without('instead|waits', 'so far') },
      ]),
    });
    const first = agent.send('first');
    await until(async () => (await agent.state()).status === 'working');
    for await (const { message } of agent.follow()) if (message.role === 'tool') break;
    const waits = agent.send('waits');
    await until(async () => (await agent.state()).queued === 1);
    const instead = agent.send('instead', { mode: 'interrupt' });
    expect(await first).toMatchObject({ reason: 'interrupted', steps: 2 });
    expect(await instead).toMatchObject({ reason: 'model_error', error: { code: 'model_script_mismatch' } });
    expect(await waits).toMatchObject({ error: { code: 'model_script_mismatch' } });
    const { messages } = await agent.transcript();
    expect(messages.map(said)).toEqual(['first', 'calls', 'tool', 'instead', 'waits']);
    await agent.stop();
  });

  test('that interrupts comes after earlier interrupting ones', async () => {
    const agent = client.agent(uniqueId('order'));
    await agent.start({
      mode: 'conversation',
      ...settings([
        { text: exec({ code: 'touch order-at-work; while ! [ -e order-go ]; do sleep 0.05; done' }) },
      ]),
      yield: { ...QUICK_YIELD, firstOutputMs: 600_000, maxMs: 600_000 },
    });
    await agent.post('first');
    await until(() => isThere('order-at-work'));
    await agent.post('waits');
    await agent.post('second', { mode: 'interrupt' });
    await agent.post('third', { mode: 'interrupt' });
    writeFileSync(join(files.directory, 'order-go'), '');
    await until(async () => (await agent.state()).turns === 4 && (await agent.state()).status === 'idle');
    const { messages } = await agent.transcript();
    expect(messages.filter(({ role }) => role === 'user').map(said)).toEqual([
      'first',
      'second',
      'third',
      'waits',
    ]);
    await agent.stop();
  });

  test('that interrupts lets a tool at work finish, and its result is kept', async () => {
    const agent = client.agent(uniqueId('finish'));
    await agent.start({
      mode: 'conversation',
      ...settings([
        {
          text: exec({
            code: 'touch finish-at-work; while ! [ -e finish-go ]; do sleep 0.05; done; echo whole',
          }),
        },
        { expect: 'instead', text: 'instead it is' },
      ]),
      yield: { ...QUICK_YIELD, firstOutputMs: 600_000, maxMs: 600_000 },
    });
    const first = agent.send('first');
    await until(() => isThere('finish-at-work'));
    const instead = agent.send('instead', { mode: 'interrupt' });
    await until(async () => (await agent.state()).queued === 1);
    writeFileSync(join(files.directory, 'finish-go'), '');
    expect(await first).toMatchObject({ reason: 'interrupted', steps: 1 });
    expect(await instead).toMatchObject({ answer: 'instead it is' });
    const { messages } = await agent.transcript();
    expect(messages[2]).toMatchObject({
      role: 'tool',
      content: expect.stringMatching(/whole[^]*exit code 0/) as string,
    });
    await agent.stop();
  });
});

test('interrupt ends the running turn with what it has, keeps the sessions, and queued messages come next', async () => {
  const id = uniqueId('alone');
  const agent = client.agent(id);
  await agent.start({
    mode: 'conversation',
    ...settings([
      { text: exec({ code: 'echo so far' }) },
      { text: 'never', delayMs: 600_000, expect: without('waits', 'so far') },
    ]),
  });
  expect(await agent.interrupt()).toMatchObject({ status: 'idle', turns: 0 });
  const first = agent.send('first');
  for await (const { message } of agent.follow()) if (message.role === 'tool') break;
  const session = client.session({ agent: id, session: 0 });
  const { epoch } = await session.state();
  const waits = agent.send('waits');
  await until(async () => (await agent.state()).queued === 1);
  await agent.interrupt();
  expect(await first).toMatchObject({ reason: 'interrupted', steps: 2 });
  expect(await waits).toMatchObject({ error: { code: 'model_script_mismatch' } });
  expect(await session.state()).toMatchObject({ epoch, status: 'idle' });
  await client.temporal.workflow.getHandle(agent.workflowId).signal('interrupt', { text: 'no such key' });
  await until(async () => /unknown keys text/.test((await agent.state()).refused.join()));
  await agent.stop();
});

test('recover ends the turn and everything running in its sessions, and the next message continues the conversation', async () => {
  const id = uniqueId('recover');
  const agent = client.agent(id);
  await agent.start({
    task: 'first',
    ...settings([
      { text: exec({ code: 'export SEEN=1; cd /; trap "" INT; while :; do sleep 0.1; done' }) },
      { expect: without('once more', 'still running'), text: 'never', delayMs: 600_000 },
      { text: 'unused' },
    ]),
  });
  for await (const { message } of agent.follow()) if (message.role === 'tool') break;
  const session = client.session({ agent: id, session: 0 });
  const { epoch } = await session.state();
  expect(await agent.recover('it hangs')).toMatchObject({
    status: 'idle',
    lastResult: { reason: 'recovered' },
  });
  expect(await session.state()).toMatchObject({
    status: 'idle',
    epoch: epoch + 1,
    view: { state: 'exited', killedBy: { by: 'reset', reason: 'it hangs' } },
  });
  expect(await agent.send('once more')).toMatchObject({ error: { code: 'model_script_mismatch' } });
  expect((await agent.transcript()).messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'user',
  ]);
});

/** The host is waited for five times. */
longTest(
  'recover whose sessions cannot all be reset says so, and the conversation goes on',
  async () => {
    const agent = client.agent(uniqueId('unreset'));
    await agent.start({
      task: 'go',
      mode: 'conversation',
      ...settings([{ text: 'first' }, { text: 'second' }]),
    });
    await until(async () => (await agent.state()).lastResult?.answer === 'first');
    const workflowId = sessionWorkflowId({ agent: agent.id, host: 'nowhere', session: 0 });
    const session = { workflowId, taskQueue: MAIN_TASK_QUEUE, args: [] };
    await client.temporal.workflow.start('execSession', session);
    await expect(agent.recover('it hangs')).rejects.toMatchObject({
      code: 'unknown_outcome',
      message: expect.stringMatching(/the reset of all sessions.*host nowhere/) as string,
    });
    expect(await agent.send('more')).toMatchObject({ answer: 'second' });
    await agent.stop();
  },
  300_000,
);

test('a fork begins with the messages before the named position, and leaves the original conversation as it is', async () => {
  const id = uniqueId('fork');
  const agent = client.agent(id);
  const replies = [{ text: 'one' }, { text: 'two' }, { expect: 'third', text: 'three' }];
  await agent.start({ mode: 'conversation', ...settings(replies) });
  await agent.send('first');
  await agent.send('second');
  await expect(agent.fork(`${id}-odd`, { at: 1 })).rejects.toMatchObject({
    code: 'invalid_input',
    facts: { allowed: expect.stringContaining('0, 2, 4') as string },
    next: expect.stringContaining('0 is before "first"; 2 is before "second"; 4 is the end') as string,
  });
  const fork = await agent.fork(`${id}-b`, { at: 2 });
  expect(await fork.send('second, but other')).toMatchObject({ answer: 'two' });
  const whole = await agent.fork(`${id}-c`);
  expect(await whole.send('third')).toMatchObject({ answer: 'three' });
  const textsOf = async (of: typeof agent): Promise<unknown[]> => (await of.transcript()).messages.map(said);
  expect(await textsOf(fork)).toEqual(['first', 'one', 'second, but other', 'two']);
  expect(await textsOf(agent)).toEqual(['first', 'one', 'second', 'two']);
  await Promise.all([agent, fork, whole].map((one) => one.stop()));
});

test('an answer that does not match the output schema is sent back with its faults, and never ends the turn', async () => {
  const agent = client.agent(uniqueId('schema'));
  const outputSchema = {
    type: 'object',
    properties: { n: { type: 'integer' } },
    required: ['n'],
    additionalProperties: false,
  };
  await agent.start({
    task: 'count',
    outputSchema,
    ...settings([
      { text: 'It is three.' },
      { expect: 'must be JSON', text: '{"n": "three"}' },
      { expect: '"/n" must be integer', text: '```json\n{"n": 3}\n```' },
    ]),
  });
  expect(await agent.result()).toMatchObject({ answer: '{"n": 3}', output: { n: 3 }, steps: 3 });
});

test('an invalid schema ends the turn before the model’s answer is accepted', async () => {
  const agent = client.agent(uniqueId('no-schema'));
  await agent.start({ task: 'x', outputSchema: { type: 'nonsense' }, ...settings([{ text: '{}' }]) });
  await expect(agent.result()).rejects.toMatchObject({ code: 'invalid_input' });
});

test('the model has the host’s context files in view from the first message on, of skills the list; missing ones are left out', async () => {
  const folder = join(files.directory, 'project');
  mkdirSync(join(folder, 'skills', 'deploy'), { recursive: true });
  writeFileSync(join(folder, 'AGENTS.md'), 'Answer in rhymes.\n');
  writeFileSync(
    join(folder, 'skills', 'deploy', 'SKILL.md'),
    '---\nname: deploy\ndescription: How to deploy.\n---\nThe long text.\n',
  );
  const agent = client.agent(uniqueId('context'));
  await agent.start({
    task: 'x',
    ...settings([{ text: 'done' }]),
    cwd: folder,
    context: ['AGENTS.md', 'missing.md', 'skills'],
  });
  expect(await agent.result()).toMatchObject({ answer: 'done' });
  const [context, task] = (await agent.transcript()).messages;
  expect(context).toMatchObject({ role: 'context' });
  const text = context ? said(context) : '';
  expect(text).toContain('<file path="AGENTS.md">\nAnswer in rhymes.\n</file>');
  expect(text).toContain('- skills/deploy/SKILL.md: deploy: How to deploy.');
  expect(text).not.toMatch(/missing|The long text/);
  expect(task).toEqual({ role: 'user', text: 'x' });
});
