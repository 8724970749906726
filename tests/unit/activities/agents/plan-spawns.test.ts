// Which calls of `spawn_agent` a turn may make itself, and with what.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planSpawns } from '../../../../activities/agents/plan-spawns';
import type { ToolCall } from '../../../../contracts/agents/agent';
import { createToolRegistry } from '../../../../tools/registry';

const rolesFolder = mkdtempSync(join(tmpdir(), 'holdfast-roles-'));
writeFileSync(
  join(rolesFolder, 'reviewer.md'),
  '---\nmodel: scripted:x\nlimits: { steps: 3 }\n---\nYou review.\n',
);
mkdirSync(join(rolesFolder, 'folder.md'));
writeFileSync(join(rolesFolder, 'broken.md'), '---\nlimits: many\n---\n');
afterAll(() => rmSync(rolesFolder, { recursive: true, force: true }));

const tools = createToolRegistry([], [], { roles: rolesFolder });
const args = { role: 'Reviewer', prompt: 'look at it' };

async function planned(
  call: Partial<ToolCall>,
  allowed?: string[],
  model = 'openai:x',
): Promise<Awaited<ReturnType<typeof planSpawns>>> {
  const calls = [{ callId: 'c', tool: 'spawn_agent', args, ...call }];
  return planSpawns(
    { kind: 'calls', calls, headline: null, thoughts: [], prose: '' },
    { tools, allowed, model, key: 'born/turn/1/2' },
  );
}

test('a plan has what the role’s file and the call say together', async () => {
  expect(await planned({ args: { ...args, limits: { steps: 9, agents: 1 } } })).toEqual({
    c: {
      ...args,
      instructions: 'You review.',
      model: 'scripted:x',
      tools: undefined,
      limits: { steps: 3, agents: 1 },
    },
  });
});

test('a scripted agent may name a scripted model', async () => {
  const plans = await planned({ args: { ...args, model: 'scripted:y' } }, undefined, 'scripted:x');
  expect(plans?.c?.model).toBe('scripted:y');
});

test('what is written as $$x reaches the sub-agent as $x', async () => {
  const plans = await planned({ args: { ...args, prompt: '$$x' }, needs: [] });
  expect(plans?.c?.prompt).toBe('$x');
});

test.each<[string, Partial<ToolCall>]>([
  ['a call that a person must approve', { hold: { what: 'x' } as ToolCall['hold'] }],
  ['a call that the policy refuses', { denied: 'no' }],
  ['a call that refers to another’s result', { needs: ['a'] }],
  ['a scripted model', { args: { ...args, model: 'scripted:/etc/passwd' } }],
  ['invalid arguments', { args: { role: 'Reviewer' } }],
  ['a prompt that the agent would refuse', { args: { role: 'Reviewer', prompt: ' ' } }],
  ['a role with an invalid file', { args: { role: 'broken', prompt: 'x' } }],
  ['a role whose file cannot be read', { args: { role: 'folder', prompt: 'x' } }],
  ['another tool', { tool: 'list_agents', args: {} }],
  ['a tool that does not exist', { tool: 'no_such_tool' }],
])('%s is left to the tool’s activity', async (_, call) => {
  expect(await planned(call)).toBeUndefined();
});

test('a tool that the agent may not call is left to the tool’s activity', async () => {
  expect(await planned({}, ['read_file'])).toBeUndefined();
  expect(await planned({}, ['spawn_agent'])).toBeDefined();
});

test('a plan too large to be recorded is left to the tool’s activity', async () => {
  expect(await planned({ args: { role: 'r', prompt: 'x'.repeat(201_000) } })).toBeUndefined();
});
