// Models of some vendors write null for each argument that they leave out (mastra-ai/mastra#17655).
import * as z from 'zod';
import { createToolRegistry } from '../../../tools/registry';
import { defineTool } from '../../../tools/tool';
import { withoutNulls } from '../../../tools/absent-arguments';

const registry = createToolRegistry([
  defineTool({
    name: 'look',
    description: 'Looks.',
    effects: 'read_only',
    args: z.object({
      at: z.string(),
      depth: z.number().default(3),
      how: z.enum(['fast', 'slow']).optional(),
      parent: z.string().nullable().optional(),
      parts: z.array(z.object({ name: z.string(), size: z.number().optional() })).optional(),
      any: z.unknown().optional(),
    }),
    run: async () => 'seen',
  }),
]);
const check = async (args: unknown): Promise<unknown> => registry.check(registry.find('look'), args);

test('an optional argument that is null was left out, at any depth, and has its default', async () => {
  const parts = [{ name: 'a', size: null }];
  expect(await check({ at: 'x', depth: null, how: null, parts })).toEqual({
    at: 'x',
    depth: 3,
    parts: [{ name: 'a' }],
  });
});

test('null stays where the tool takes it, and where anything may be', async () => {
  expect(await check({ at: 'x', parent: null, any: null })).toEqual({
    at: 'x',
    depth: 3,
    parent: null,
    any: null,
  });
});

test('null for an argument that is needed is refused, and so is one that nobody knows as what it is', async () => {
  await expect(check({ at: null })).rejects.toMatchObject({ code: 'invalid_input' });
  expect(withoutNulls({ other: null }, { properties: {} })).toEqual({ other: null });
});

test.each(['list_dir', 'read_file', 'grep_files', 'exec_command', 'code_execution_tool', 'fetch', 'shell'])(
  'the built-in tool %s takes null for all of its optional arguments',
  async (name) => {
    const tool = registry.find(name);
    const { parameters } = registry.describe().find((one) => one.name === name) ?? {};
    const { properties = {}, required = [] } = parameters as { properties?: object; required?: string[] };
    const optional = Object.keys(properties).filter((key) => !required.includes(key));
    expect(optional.length).toBeGreaterThan(0);
    const given = Object.fromEntries(optional.map((key) => [key, null]));
    const needed: Record<string, object> = { code_execution_tool: { runtime: 'terminal', code: 'true' } };
    const faults = async (args: object): Promise<string> =>
      registry.check(tool, args).then(
        () => '',
        (err: Error) => err.message.replace(/got .*?, allowed/s, ''),
      );
    expect(await faults({ ...given, ...needed[name] })).toBe(await faults({ ...needed[name] }));
  },
);
