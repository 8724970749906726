// What the policy says of a tool whose command line is not to be had.
import { z } from 'zod';
import { ToolRulings, type RuledCall } from '../../../../activities/tools/tool-ruling';
import { DEFAULT_POLICY, type PolicySettings } from '../../../../contracts/tools/policy';
import { createToolRegistry } from '../../../../tools/registry';
import { defineTool, type Tool } from '../../../../tools/tool';

const called = (args: unknown): RuledCall => ({
  agent: 'someone',
  tool: 'own',
  args,
  place: { host: 'local', cwd: null },
});
const checked: string[] = [];
beforeEach(() => checked.splice(0));

function rulings(changes: Partial<Tool>, policy: Partial<PolicySettings> = {}): ToolRulings {
  const tool = defineTool({
    name: 'own',
    description: 'Runs a command.',
    args: z.object({ command: z.string() }),
    effects: 'once',
    commandLine: (args) => (args as { command: string }).command,
    run: async () => 'ran',
    ...changes,
  });
  const checks = {
    check: ({ code }: { code: string }) => {
      checked.push(code);
      return Promise.resolve({ verdicts: [], unparsed: null });
    },
    close: (): void => undefined,
  };
  return new ToolRulings(createToolRegistry([tool]), () => ({ ...DEFAULT_POLICY, ...policy }), checks);
}

test('the command that a tool would run is checked with its arguments as an async schema gives them', async () => {
  const args = z.object({ command: z.string().transform(async (text) => `nice ${text}`) });
  expect(await rulings({ args }).of(called({ command: 'ls' }))).toEqual({});
  expect(checked).toEqual(['nice ls']);
});

test.each<[string, Partial<Tool>, RegExp]>([
  ['throws', { commandLine: () => boom() }, /the command of own is not known: no such host/],
  ['is no text', { commandLine: (() => 5) as unknown as Tool['commandLine'] }, /its `commandLine` gave 5/],
  [
    'needs what the schema cannot give',
    { args: z.object({}).refine(boom) },
    /failed, so `run` was not called/,
  ],
])(
  'a command line that %s is refused, not left unchecked, and fails nothing else',
  async (_how, changes, why) => {
    expect((await rulings(changes).of(called({ command: 'ls' }))).denied).toMatch(why);
    expect(checked).toEqual([]);
  },
);

test('arguments that the tool itself will refuse, and tools without a command, are left to the tool', async () => {
  expect(await rulings({}).of(called({ command: 5 }))).toEqual({});
  const none = (() => undefined) as unknown as Tool['commandLine'];
  expect(await rulings({ commandLine: none }).of(called({ command: 'ls' }))).toEqual({});
  expect(checked).toEqual([]);
});

test('every command of an agent or on a host means those of tools, too, and the strictest of all rules wins', async () => {
  const ruled = (
    policy: Partial<PolicySettings>,
    changes: Partial<Tool> = {},
  ): ReturnType<ToolRulings['of']> => rulings(changes, policy).of(called({ command: 'ls' }));
  const tools = { own: 'ask' } as const;
  expect(await ruled({ tools, hosts: { local: 'deny' } })).toEqual({
    denied: 'host local (every command there)',
  });
  const { hold } = await ruled({ tools, agents: { someone: 'ask' }, hosts: { elsewhere: 'deny' } });
  expect(hold?.reasons.map(({ rule }) => rule)).toEqual(['tool own', 'agent someone']);
  const none = (() => undefined) as unknown as Tool['commandLine'];
  expect(await ruled({ hosts: { local: 'deny' } }, { commandLine: none })).toEqual({});
});

function boom(): never {
  throw new Error('no such host');
}
