// What is too large for one Temporal payload: it ends with a reason, and nothing hangs.
import type { HoldfastClient } from '../../../client/holdfast-client';
import type { Message, TranscriptPage } from '../../../contracts/agents/agent';
import { jsonBytes, MAX_TRANSCRIPT_PAGE_BYTES } from '../../../contracts/payload-size';
import {
  call,
  scratch,
  testClient,
  uniqueId,
  type Reply,
  type Scratch,
} from '../../helpers/engines/temporal';

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

/** A step whose reply is recorded with about this many bytes. */
const large = (bytes: number): Reply => ({
  text: call('code_execution_tool', {
    runtime: 'terminal',
    code: `echo ran\n${`# ${'x'.repeat(97)}\n`.repeat(bytes / 100)}`,
  }),
});
const steps = (count: number, bytes: number): Reply[] => Array.from({ length: count }, () => large(bytes));

test('a turn whose messages reach the limit ends with its reason, keeps its conversation, and the next message continues it', async () => {
  const agent = client.agent(uniqueId('full'));
  const replies = [...steps(8, 160_000), { expect: 'and now', text: 'went on' }];
  await agent.start({ mode: 'conversation', ...settings(replies) });
  expect(await agent.send('fill it')).toEqual({ answer: null, reason: 'size_limit', error: null, steps: 8 });
  expect(await agent.send('and now?')).toMatchObject({ answer: 'went on', reason: 'answered' });
  const { messages, total } = await agent.transcript(0, 1_000);
  expect(messages).toHaveLength(total);
  expect(messages.map((message) => message.role)).toEqual([
    'user',
    ...Array.from({ length: 8 }, () => ['assistant', 'tool']).flat(),
    'user',
    'assistant',
  ]);
  expect(jsonBytes(messages)).toBeGreaterThan(1_250_000);

  const handle = client.temporal.workflow.getHandle(agent.workflowId);
  const page = await handle.query<TranscriptPage, [object]>('transcript', { limit: 1_000 });
  expect(jsonBytes(page)).toBeLessThan(MAX_TRANSCRIPT_PAGE_BYTES + 100);
  await agent.stop();
  const followed: Message[] = [];
  for await (const { message } of agent.follow()) followed.push(message);
  expect(followed).toEqual(messages);
});

test('the longest answer of a turn that is nearly full arrives whole', async () => {
  const agent = client.agent(uniqueId('longest'));
  const answer = 'long '.repeat(49_900);
  await agent.start({ task: 'fill it', ...settings([...steps(7, 173_000), { text: answer }]) });
  expect(await agent.result()).toEqual({ answer: answer.trim(), reason: 'answered', error: null, steps: 8 });
});

test('a reply that is too long does not run: the model is told how long it may be', async () => {
  const agent = client.agent(uniqueId('reply'));
  const replies = [
    large(1_500_000),
    { expect: 'too long: got \\d{7} bytes.*allowed 500000', text: 'shorter' },
  ];
  await agent.start({ task: 'x', ...settings(replies) });
  expect(await agent.result()).toMatchObject({ answer: 'shorter', steps: 2 });
  expect((await agent.transcript()).messages.map((m) => m.role)).toEqual([
    'user',
    'assistant',
    'repair',
    'assistant',
  ]);
});

test('a message that is too long is refused with its size before it costs history', async () => {
  const agent = client.agent(uniqueId('message'));
  const refusal = {
    code: 'invalid_input',
    message: expect.stringContaining('bytes as JSON, allowed 500000') as string,
  };
  const task = '\u0001'.repeat(90_000);
  await expect(agent.start({ task, ...settings([]) })).rejects.toMatchObject(refusal);
  await agent.start({ mode: 'conversation', ...settings([{ text: 'hi' }]) });
  await expect(agent.send(task)).rejects.toMatchObject(refusal);
  expect(await agent.send('short')).toMatchObject({ answer: 'hi' });
  await agent.stop();
});
