// What sub-agents have used counts towards one turn of their parent, whatever becomes of the turn's wait.
import * as z from 'zod/mini';
import { HoldfastTestEnvironment, simulatedHost } from '../../../testing';
import { defineTool } from '../../../tools/tool';
import { until } from '../../helpers/until';

let env: HoldfastTestEnvironment;
/** A tool that lasts as long as the test wants. */
const lasting = { gate: Promise.resolve() };
const lasts = defineTool({
  name: 'lasts',
  description: 'Waits.',
  args: z.strictObject({}),
  effects: 'read_only',
  run: async () => {
    await lasting.gate;
    return 'done';
  },
});

beforeAll(async () => {
  env = await HoldfastTestEnvironment.createLocal({ host: simulatedHost({ true: '' }), tools: [lasts] });
}, 60_000);
afterAll(() => env.close());

const calls = (...list: object[]): string => `<tool>${JSON.stringify(list)}</tool>`;

test('what a sub-agent has used counts once, also if it ends while the interrupted turn lets a tool finish', async () => {
  let finish = (): void => undefined;
  let help = (): void => undefined;
  lasting.gate = new Promise((resolve) => (finish = resolve));
  const helped = new Promise<void>((resolve) => (help = resolve));
  const agent = env.agent('counts');
  const replies: string[] = [];
  const model = env.model({ reply: () => Promise.resolve({ text: replies.shift() ?? 'done' }) });
  await agent.start({ mode: 'conversation', model, dialect: 'tagged' });
  const usage = { inputTokens: 100, outputTokens: 1, cachedTokens: 0, costUsd: 5 };
  const helper = env.model({ reply: () => helped.then(() => ({ text: 'helped', usage })) });
  const child = await agent.spawn({ key: 'k', role: 'Helper', prompt: 'p', model: helper });
  const wait = { tool_name: 'wait_for_agents', arguments: { agent_ids: [child] } };
  replies.push(calls(wait, { tool_name: 'lasts', arguments: {} }), calls(wait));
  const isWaiting = async (): Promise<boolean> => (await agent.state()).turn?.waits?.for === 'agents';

  const first = agent.send('one');
  await until(isWaiting);
  const interrupted = agent.interrupt();
  await until(async () => !(await isWaiting()));
  help();
  await until(async () => (await agent.ownState()).agents[0]?.isCounted === true);
  finish();
  await interrupted;
  expect(await first).toMatchObject({ reason: 'interrupted' });

  expect(await agent.send('two')).toMatchObject({ answer: 'done' });
  const { messages } = await agent.transcript();
  expect(messages.findLast(({ role }) => role === 'tool')).toMatchObject({
    content: expect.stringContaining('helped') as string,
  });
  expect(await agent.ownState()).toMatchObject({ usage, agents: [{ isCounted: true }] });
  await agent.stop();
  await agent.result();
}, 60_000);
