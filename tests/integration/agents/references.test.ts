// Blocks of several calls: what runs at once, what waits for what, what is refused before anything runs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { ModelRequest, RawReply } from '../../../models/provider';
import type { JsonValue } from '../../../contracts/tools/tools';
import { defineTool } from '../../../tools/tool';
import { HoldfastTestEnvironment, simulatedHost, toolBlock } from '../../../testing';

let env: HoldfastTestEnvironment;
const ran: unknown[] = [];
/** Resolves when as many calls wait in it as are to be at work at once. */
let meeting: { wanted: number; here: (() => void)[] } = { wanted: 0, here: [] };

const record = defineTool<{ value: JsonValue }, JsonValue>({
  name: 'record',
  description: 'Records a value and returns it.',
  args: z.strictObject({ value: z.json() }),
  result: z.json(),
  effects: 'once',
  run: ({ value }) => {
    ran.push(value);
    if (value === 'fail') return Promise.reject(new Error('it failed'));
    return Promise.resolve(value);
  },
});
const meet = defineTool({
  name: 'meet',
  description: 'Returns when all are here.',
  args: z.strictObject({}),
  effects: 'read_only',
  run: () =>
    new Promise<string>((resolve) => {
      meeting.here.push(() => resolve('met'));
      if (meeting.here.length === meeting.wanted) for (const go of meeting.here) go();
    }),
});

const host = simulatedHost({ true: '', first: '', second: '', elsewhere: '' });

beforeAll(async () => {
  env = await HoldfastTestEnvironment.createLocal({
    host,
    tools: [record, meet],
  });
}, 60_000);
afterAll(() => env.close());
beforeEach(() => void ran.splice(0));

/** A model that gives these replies; returns its requests. */
async function ask(
  id: string,
  replies: string[],
): Promise<{ requests: ModelRequest[]; answer: string | null }> {
  const requests: ModelRequest[] = [];
  const model = env.model({
    dialect: 'tagged',
    reply: (request): Promise<RawReply> => {
      requests.push(request);
      return Promise.resolve({ text: replies[requests.length - 1] ?? 'done' });
    },
  });
  await env.agent(id).start({ task: 'x', model });
  const { answer } = await env.agent(id).result();
  return { requests, answer };
}
const lastOf = (request: ModelRequest | undefined): string => request?.messages.at(-1)?.text ?? '';
const call = (id: string, tool: string, args: object): { id: string; tool: string; args: object } => ({
  id,
  tool,
  args,
});

test('independent calls of a block run at once, and one message holds the results by their call ids', async () => {
  meeting = { wanted: 3, here: [] };
  const block = toolBlock([call('a', 'meet', {}), call('b', 'meet', {}), call('c', 'meet', {})]);
  const { requests, answer } = await ask('parallel', [block]);
  expect(answer).toBe('done');
  expect(lastOf(requests[1])).toMatch(/TOOL_EXECUTION_RESULT[^]*a[^]*met[^]*b[^]*met[^]*c[^]*met/);
});

test('a reference is the value of an earlier call, its parts by path, nested in lists and objects; $$ is a $', async () => {
  await ask('values', [
    toolBlock([
      call('one', 'record', { value: { list: [10, { deep: true }], text: 'x' } }),
      call('two', 'record', { value: { whole: '$one', part: ['$one.list.1.deep', '$one.text'] } }),
      call('three', 'record', { value: ['$$one', '$HOME/x', 'costs $5'] }),
    ]),
  ]);
  expect(ran).toContainEqual({
    whole: { list: [10, { deep: true }], text: 'x' },
    part: [true, 'x'],
  });
  expect(ran).toContainEqual(['$one', '$HOME/x', 'costs $5']);
});

test('calls of one session run in their order, whatever they wait for; those of others do not wait for them', async () => {
  const run = (id: string, session: number, code: string): ReturnType<typeof call> =>
    call(id, 'code_execution_tool', { runtime: 'terminal', session, code });
  await ask('in-order', [
    toolBlock([
      call('made', 'record', { value: 'first' }),
      run('one', 5, '$made'),
      run('two', 5, 'second'),
      run('other', 6, 'elsewhere'),
    ]),
  ]);
  const codes = host.commands.filter(({ agent }) => agent === 'in-order').map(({ code }) => code);
  expect(codes.filter((code) => code !== 'elsewhere')).toEqual(['first', 'second']);
  expect(codes).toHaveLength(3);
});

test('a session whose number comes from another call is the turn’s from the result on, with its state', async () => {
  await ask('session', [
    toolBlock([
      call('number', 'record', { value: 4 }),
      call('runs', 'code_execution_tool', { runtime: 'terminal', session: '$number', code: 'true' }),
    ]),
  ]);
  const { messages } = await env.agent('session').transcript();
  const reply = messages.find((message) => message.role === 'assistant');
  const roles = { runtime: 'runtime', session: 'session', code: 'code' };
  expect(reply?.parsed).toMatchObject({ calls: [{ facts: {} }, { facts: { roles } }] });
  expect(messages.find((message) => message.role === 'tool' && message.callId === 'runs')).toMatchObject({
    session: { session: 4, state: 'exited', exitCode: 0 },
  });
  expect((await env.agent('session').ownState()).sessions).toEqual([4]);
});

test.each([
  ['unknown', [call('a', 'record', { value: 1 }), call('b', 'record', { value: '$c' })]],
  ['forward', [call('a', 'record', { value: '$b' }), call('b', 'record', { value: 1 })]],
  ['to itself', [call('a', 'record', { value: 0 }), call('b', 'record', { value: '$b' })]],
])('a block with a reference that is %s is refused before any of it runs', async (name, calls) => {
  const { requests } = await ask(`refused-${name.replace(' ', '-')}`, [toolBlock(calls)]);
  expect(ran).toEqual([]);
  expect(lastOf(requests[1])).toMatch(/could not be used.*"\$[abc]".*Nothing was run/s);
});

test('a call that refers to a failed one is skipped and told so, and the rest runs', async () => {
  const { requests } = await ask('failed', [
    toolBlock([
      call('bad', 'record', { value: 'fail' }),
      call('after', 'record', { value: '$bad' }),
      call('later', 'record', { value: ['$after'] }),
      call('other', 'record', { value: 'runs' }),
      call('nowhere', 'record', { value: '$other.part' }),
    ]),
  ]);
  expect(ran).toEqual(['fail', 'runs']);
  const told = lastOf(requests[1]);
  expect(told.match(/dependency_failed/g)).toHaveLength(3);
});

test('the seed’s block runs unchanged: a planner is spawned, and the wait in the same block returns its plan', async () => {
  const block = readFileSync(join(__dirname, '..', '..', 'fixtures', 'reply-planner.json'), 'utf8');
  const requests: ModelRequest[] = [];
  const model = env.model({
    dialect: 'tagged',
    reply: (request) => {
      requests.push(request);
      const isPlanner = request.system.startsWith('You are Planner');
      if (isPlanner) return Promise.resolve({ text: '1. fetch, 2. summarise' });
      const isFirst = request.messages.length === 1;
      return Promise.resolve({ text: isFirst ? `<tool>\n${block}\n</tool>` : 'I have the plan.' });
    },
  });
  await env.agent('seed').start({ task: 'Summarise example.com', model });
  expect(await env.agent('seed').result()).toMatchObject({ answer: 'I have the plan.', steps: 2 });
  expect(lastOf(requests.at(-1))).toMatch(
    /planner_agent[^]*seed-planner-1[^]*wait_call[^]*1\. fetch, 2\. summarise/,
  );
  expect(requests[1]?.messages[0]?.text).toBe(
    'Create a step-by-step plan to fetch and summarize the content of example.com.',
  );
});
