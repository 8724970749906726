// Which definitions of tools are refused before any model sees them. Modules in JavaScript may hold anything.
import { z } from 'zod';
import { checkedTools, checkTool } from '../../../tools/check-tool';
import { createToolRegistry } from '../../../tools/registry';
import { defineTool, type Tool } from '../../../tools/tool';

const tool = (changes: object = {}): Tool =>
  defineTool({
    name: 'own',
    description: 'Does nothing.',
    args: z.object({}),
    effects: 'read_only',
    run: async () => 'done',
    ...changes,
  });

test.each<[string, object]>([
  ['args: a schema of an object', { args: z.string() }],
  ['args: a schema of an object', { args: z.array(z.string()) }],
  ['args: a schema of an object', { args: z.union([z.string(), z.number()]) }],
  ['args: a schema of an object', { args: z.object({}).and(z.string()) }],
  ['args: a schema of zod 4', { args: null }],
  ['result: a schema of zod 4, or { jsonSchema }', { result: 5 }],
  ['result: a schema of zod 4, or { jsonSchema }', { result: {} }],
  ['result: a schema of zod 4, or { jsonSchema }', { result: { jsonSchema: 'x' } }],
  ['text: a function', { text: 'x' }],
  ['commandLine: a function', { commandLine: 'ls' }],
  ...[0, -1, 1.5, NaN, Infinity, '1000', null].map((timeoutMs): [string, object] => [
    'timeoutMs: a whole number from 1 to',
    { timeoutMs },
  ]),
])('a fault is named with its tool and what is allowed: %s (%j)', (allowed, faulty) => {
  expect(() => checkTool(tool(faulty))).toThrow(
    expect.objectContaining({
      code: 'tool_invalid',
      message: expect.stringContaining(`got own, allowed ${allowed}`) as string,
    }) as Error,
  );
});

test.each<[string, Tool['args']]>([
  ['an object or another', z.union([z.object({ a: z.string() }), z.strictObject({})])],
  ['an object or nothing', z.object({}).optional()],
  ['a record', z.record(z.string(), z.unknown())],
  ['two objects in one', z.object({}).and(z.looseObject({}))],
  ['an object after a function', z.preprocess((value) => value, z.object({}))],
  ['an object that contains itself', node()],
])('arguments may be %s', (_what, args) => {
  expect(() => checkTool(tool({ args }))).not.toThrow();
});

function node(): Tool['args'] {
  const schema = z.object({
    get child() {
      return z.optional(schema);
    },
  });
  return schema;
}

test.each([
  ['a date', z.object({ at: z.date() })],
  ['a transformed value', z.object({ at: z.string().transform((text) => text.length) })],
])('%s, which JSON Schema cannot express, is any value in the schema of a result', (_what, result) => {
  const described = createToolRegistry([tool({ result })]).describe();
  expect(described.at(-1)?.result).toMatchObject({ type: 'object', properties: { at: {} } });
});

test.each([null, undefined, 'x', 5])('what is no tool at all is shown: %j', (nothing) => {
  const message = new RegExp(`got ${JSON.stringify(nothing) ?? 'nothing'}, allowed name: 1 to 64`);
  expect(() => createToolRegistry([nothing as unknown as Tool])).toThrow(message);
});

test.each([{}, 'x', 5])('the option `tools` must be a list: %j', (tools) => {
  expect(() => checkedTools(tools as unknown as Tool[])).toThrow(
    `The option \`tools\` is invalid: got ${JSON.stringify(tools)}, allowed a list of tools`,
  );
});
