// What the longest turns leave in history.
import * as z from 'zod/mini';
import { HoldfastTestEnvironment, simulatedHost, toolBlock } from '../../../../testing';
import { defineTool } from '../../../../tools/tool';

const CALLS = 100;
const PAGE_BYTES = 7_000;
const REPLY_BYTES = 1_000;
/** Four bytes to a token, as is usual for English. */
const CONTEXT_BYTES = 4 * 195_000;
const LIMIT_BYTES = 2_000_000;

const words = (of: string, bytes: number): string =>
  `${of}: a line of it, as long as lines of code and of text mostly are\n`.repeat(bytes).slice(0, bytes);

const readPage = defineTool({
  name: 'read_page',
  description: 'Reads a page.',
  args: z.strictObject({ page: z.int() }),
  effects: 'read_only',
  run: ({ page }) => Promise.resolve(words(`page ${page}`, PAGE_BYTES)),
});

let env: HoldfastTestEnvironment;
/** The request of the last model call. */
let seenBytes = 0;

/** One turn of a hundred model calls, each of which except the last reads a page. */
beforeAll(async () => {
  env = await HoldfastTestEnvironment.createLocal({ host: simulatedHost(), tools: [readPage] });
  const model = env.model({
    dialect: 'tagged',
    reply: ({ messages }) => {
      const page = messages.filter(({ role }) => role === 'assistant').length;
      seenBytes = messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
      if (page === CALLS - 1) return Promise.resolve({ text: 'all read' });
      const block = toolBlock([{ tool: 'read_page', args: { page } }]);
      return Promise.resolve({ text: words(`after page ${page}`, REPLY_BYTES - block.length) + block });
    },
  });
  const agent = env.agent('long');
  await agent.start({ task: 'Read all pages', model, limits: { steps: CALLS } });
  await agent.result();
}, 120_000);
afterAll(() => env.close());

const historySize = async (workflowId: string): Promise<number | undefined> =>
  (await env.temporal.client.workflow.getHandle(workflowId).describe()).historySize;

describe('100 model calls at 200k tokens of context take less than 2 MB of history in each workflow', () => {
  test('as many calls and tokens as that', async () => {
    expect(await env.agent('long').result()).toMatchObject({ answer: 'all read', steps: CALLS });
    expect(seenBytes).toBeGreaterThan(CONTEXT_BYTES);
  });

  test('in the agent', async () => {
    expect(await historySize('agent/long')).toBeLessThan(LIMIT_BYTES);
  });

  test('in the turn', async () => {
    expect(await historySize('agent/long/turn/1')).toBeLessThan(LIMIT_BYTES);
  });
});
