// What is recorded with the calls of a reply: the declarations of their tools, applied to their arguments.
import * as z from 'zod/mini';
import { prepareCalls, type Preparation } from '../../../../activities/agents/prepare-calls';
import { scriptSessions } from '../../../../contracts/agents/script-sessions';
import type { ToolCall } from '../../../../contracts/agents/agent';
import { ARGUMENT_ROLES } from '../../../../contracts/tools/call-facts';
import { createToolRegistry } from '../../../../tools/registry';
import { defineTool } from '../../../../tools/tool';

const own = defineTool({
  name: 'own_repl',
  description: 'Runs Lua with a person.',
  args: z.strictObject({ program: z.string(), slot: z._default(z.int(), 3) }),
  effects: 'idempotent',
  argumentRoles: { code: 'program', session: 'slot' },
  session: ({ slot }) => slot,
  forPerson: ({ program }) => program.includes('read'),
  run: async () => 'ran',
});
const faulty = defineTool({
  ...own,
  name: 'faulty',
  session: () => {
    throw new Error('a fault of its author');
  },
});
const session = z.strictObject({ session: z.int() });
const foreign = defineTool({
  ...own,
  name: 'foreign',
  args: session,
  argumentRoles: {},
  session: () => 1e9,
  forPerson: () => true,
});
const silent = defineTool<{ session: number }>({
  name: 'silent',
  description: 'Has a session of its own.',
  args: session,
  effects: 'read_only',
  run: async () => '',
});

const tools = createToolRegistry([own, faulty, foreign, silent]);
const KEY = 'born/turn/1/2';

async function prepared(
  tool: string,
  args: ToolCall['args'],
  changes: Partial<Preparation> = {},
): Promise<ToolCall | undefined> {
  const reply = await prepareCalls(
    { kind: 'calls', calls: [{ callId: 'c', tool, args }], headline: null, thoughts: [], prose: '' },
    { tools, allowed: undefined, key: KEY, ruled: () => Promise.resolve({}), ...changes },
  );
  return reply.kind === 'calls' ? reply.calls[0] : undefined;
}

const [firstOfKey] = scriptSessions(`${KEY}/c`);
const RUNS = { runtime: 'runtime', session: 'session', code: 'code' };
const TYPES = { session: 'session', typed: 'keyboard' };
const SCRIPT = { session: 'session', code: 'code' };

test.each<[string, ToolCall['args'], object]>([
  ['code_execution_tool', { runtime: 'output' }, { session: 0, roles: RUNS }],
  ['code_execution_tool', { runtime: 'terminal', session: 4, code: 'ls' }, { session: 4, roles: RUNS }],
  ['code_execution_tool', { runtime: 'terminal', session: 'x' }, { roles: RUNS }],
  ['code_execution_remote', { runtime: 'terminal', session: 4, code: 'ls' }, { roles: RUNS }],
  ['input', { keyboard: 'y' }, { session: 0, roles: TYPES }],
  ['input', { keyboard: 'y', session: 2 }, { session: 2, roles: TYPES }],
  ['input', { keyboard: 'y', session: 2, host: 'far' }, { roles: TYPES }],
  ['execute_python_code', { code: 'x' }, { session: firstOfKey, roles: SCRIPT }],
  ['execute_python_code', { code: 'x', session: 5 }, { session: 5, roles: SCRIPT }],
  [
    'execute_python_code',
    { code: 'x', interactive: true },
    { session: firstOfKey, forPerson: true, roles: SCRIPT },
  ],
  ['write_stdin', { session_id: 990_001, chars: 'y' }, { roles: { session: 'session_id', typed: 'chars' } }],
  ['wait', { sessions: [1] }, {}],
  ['own_repl', { program: 'read()' }, { session: 3, forPerson: true, roles: own.argumentRoles }],
  ['own_repl', { program: 'run()', slot: 4 }, { session: 4, roles: own.argumentRoles }],
  ['own_repl', { program: 'read()', slot: 'x' }, { roles: own.argumentRoles }],
  ['faulty', { program: 'read()' }, { roles: own.argumentRoles }],
  ['foreign', { session: 1 }, { roles: {} }],
  ['silent', { session: 1 }, {}],
  ['no_such_tool', { session: 1 }, {}],
])('a call of %s with %j is recorded with what its tool declares', async (tool, args, facts) => {
  expect((await prepared(tool, args))?.facts).toEqual(facts);
});

test('what is recorded for a call is small', async () => {
  const facts = (await prepared('code_execution_tool', { runtime: 'output' }))?.facts;
  expect(JSON.stringify(facts).length).toBeLessThan(90);
});

test('code that was escaped twice is repaired before the policy rules on it', async () => {
  const seen: unknown[] = [];
  const ruled: Preparation['ruled'] = ({ args }) => {
    seen.push(args.code);
    return Promise.resolve({ denied: 'no' });
  };
  const code = 'import os\\nprint(1)';
  expect(await prepared('execute_python_code', { code }, { ruled })).toMatchObject({
    args: { code: 'import os\nprint(1)' },
    repaired: expect.stringContaining('escaped twice') as string,
    denied: 'no',
  });
  expect(seen).toEqual(['import os\nprint(1)']);
  const undeclared = await prepared('silent', { session: 1, code });
  expect(undeclared?.args.code).toBe(code);
});

test.each<[string, ToolCall['args'], string | undefined]>([
  ['read_file', { file_path: 'x' }, 'host'],
  ['read_file', { wrong: 'x' }, 'host'],
  ['wait_for_agents', { agent_ids: ['a'] }, 'turn'],
  ['wait_for_agents', {}, undefined],
  ['silent', { session: 1 }, undefined],
])('a call of %s with %j runs where its tool does: %s', async (tool, args, runsOn) => {
  expect((await prepared(tool, args))?.runsOn).toBe(runsOn);
});

test('a call of the turn that the agent may not make goes to the activity, which refuses it', async () => {
  const call = await prepared('wait_for_agents', { agent_ids: ['a'] }, { allowed: ['silent'] });
  expect(call?.runsOn).toBeUndefined();
});

test('the arguments that built-in tools declare exist', () => {
  const registry = createToolRegistry();
  const described = registry.describe();
  const wrong = described.flatMap(({ name, parameters }) => {
    const known = Object.keys((parameters.properties as object | undefined) ?? {});
    const { argumentRoles } = registry.find(name);
    return ARGUMENT_ROLES.flatMap((role) => argumentRoles?.[role] ?? [])
      .filter((argument) => !known.includes(argument))
      .map((argument) => `${name}: ${argument}`);
  });
  expect(wrong).toEqual([]);
  expect(described.filter(({ name }) => registry.find(name).argumentRoles).length).toBeGreaterThan(5);
});
