import { z } from 'zod';
import { createOfferActivities, offerOf } from '../../../../activities/tools/offer-tools';
import type { OfferedTool } from '../../../../contracts/tools/offered-tools';
import { jsonBytes } from '../../../../contracts/payload-size';
import { createToolRegistry } from '../../../../tools/registry';
import { OfferedTools } from '../../../../tools/offered-tools';
import { defineTool, type Tool } from '../../../../tools/tool';

const tool = (name: string, more: Partial<OfferedTool> = {}): OfferedTool => ({
  name,
  description: 'Does nothing.',
  parameters: { type: 'object' },
  result: null,
  effects: 'read_only',
  ...more,
});
const names = (tools: readonly { name: string }[] | null): string[] | undefined =>
  tools?.map(({ name }) => name);

test('a host that has the same offer gets no tools again, whatever their order; any change is a new offer', () => {
  const { digest, tools } = offerOf([tool('a'), tool('b')], null);
  expect(names(tools)).toEqual(['a', 'b']);
  expect(offerOf([tool('b'), tool('a')], digest)).toMatchObject({ digest, tools: null });
  expect(names(offerOf([tool('a'), tool('b', { effects: 'once' })], digest).tools)).toEqual(['a', 'b']);
  expect(names(offerOf([tool('a')], digest).tools)).toEqual(['a']);
});

test('an offer fits a payload: what is too large is left out and named, and keeps no other tool out', () => {
  const huge = tool('b_huge', { description: 'd'.repeat(600_000) });
  const alone = offerOf([tool('a'), huge, tool('c')], null);
  expect(names(alone.tools)).toEqual(['a', 'c']);
  expect(alone.leftOut).toEqual({ count: 1, names: ['b_huge'] });
  const many = Array.from({ length: 10_000 }, (_, n) => tool(`t${n}`, { description: 'd'.repeat(200) }));
  const some = offerOf(many, null);
  expect(jsonBytes(some)).toBeLessThan(510_000);
  expect(some.leftOut.count + (some.tools?.length ?? 0)).toBe(10_000);
  expect(some.leftOut.names).toHaveLength(20);
});

test('built-in tools and those of a host are not offered; of the others, everything that a caller needs is', () => {
  const args = z.object({ password: z.string() });
  const run = async (): Promise<string> => '';
  const own = (name: string, more: Partial<Tool> = {}): Tool =>
    defineTool({ name, description: 'Does nothing.', args, effects: 'once', run, ...more });
  const agents = createToolRegistry([
    own('here', { runsOn: 'host' }),
    own('there', { secret: true, timeoutMs: 5_000, result: { jsonSchema: { type: 'number' } } }),
  ]);
  const { tools } = JSON.parse(JSON.stringify(offerOf(agents.offered(), null))) as { tools: OfferedTool[] };
  expect(names(tools)).toEqual(['there']);
  const source = new OfferedTools();
  const host = createToolRegistry([], [source]);
  source.replace(tools);
  const described = (registry: typeof host): unknown =>
    registry.describe().find(({ name }) => name === 'there');
  expect(described(host)).toEqual(described(agents));
  expect(host.find('there')).toMatchObject({ secret: true, timeoutMs: 5_000 });
});

test('a host’s own tool keeps its name', () => {
  const own = defineTool({
    name: 'My-Tool',
    description: 'The host’s own.',
    args: z.object({}),
    effects: 'once',
    run: async () => 'own',
  });
  const source = new OfferedTools();
  const host = createToolRegistry([own], [source]);
  source.replace([tool('my_tool'), tool('other')]);
  expect(host.find('My-Tool').description).toBe('The host’s own.');
  expect(() => host.find('my_tool')).toThrow(expect.objectContaining({ code: 'unknown_tool' }) as Error);
  expect(host.find('other').name).toBe('other');
});

test('a worker whose MCP servers have not connected yet offers their tools once they have', async () => {
  const servers = new OfferedTools();
  let connected = (): void => undefined;
  const settled = new Promise<void>((resolve) => (connected = resolve));
  const source = Object.assign(servers, { settled: () => settled });
  const activities = createOfferActivities({ tools: createToolRegistry([], [source]) });
  const offer = activities.offerTools({ known: null });
  await Promise.resolve();
  servers.replace([tool('mcp__slow__pid')]);
  connected();
  expect(names((await offer).tools)).toEqual(['mcp__slow__pid']);
});

test('an MCP server that does not connect holds up the offer of the other tools for less than the offer may take', async () => {
  const run = async (): Promise<string> => 'own';
  const args = z.object({});
  const own = defineTool({ name: 'own_tool', description: 'It.', args, effects: 'once', run });
  const source = Object.assign(new OfferedTools(), { settled: () => new Promise<void>(() => undefined) });
  const activities = createOfferActivities({ tools: createToolRegistry([own], [source]) });
  const since = performance.now();
  expect(names((await activities.offerTools({ known: null })).tools)).toEqual(['own_tool']);
  // Of ten seconds, see the workflow `offeredTools`.
  expect(performance.now() - since).toBeLessThan(8_000);
}, 15_000);
