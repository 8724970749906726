import * as mini from 'zod/mini';
import { z } from 'zod';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import type { CommandView } from '../../../contracts/sessions/session';
import { createToolRegistry } from '../../../tools/registry';
import { defineTool, type Tool, type ToolContext } from '../../../tools/tool';

const named = (name: string): Tool =>
  defineTool({
    name,
    description: 'Does nothing.',
    args: z.object({}),
    effects: 'read_only',
    run: async () => name,
  });

const context = (changes: Partial<ToolContext> = {}): ToolContext =>
  ({
    attempt: 1,
    settings: {},
    signal: new AbortController().signal,
    caller: null,
    host: null,
    ...changes,
  }) as ToolContext;

const throwing = (effects: Tool['effects'], err: Error): Tool =>
  defineTool({ ...named('throwing'), effects, run: () => Promise.reject(err) });

const call = (
  tool: string,
  args: Record<string, unknown> = {},
): { callId: string; tool: string; args: typeof args } => ({
  callId: 'c',
  tool,
  args,
});

describe('a name', () => {
  test.each([
    ['my-tool', 'my_tool'],
    ['MyTool', 'mytool'],
    ['input', 'Input'],
    ['same', 'same'],
  ])('%s beside %s is refused at registration, never taken by the first', (one, other) => {
    const own = one === 'input' ? [named(other)] : [named(one), named(other)];
    expect(() => createToolRegistry(own)).toThrow(
      expect.objectContaining({ code: 'tool_name_taken', facts: { got: other, before: one } }) as Error,
    );
  });

  test('that is given twice is refused, also as the same tool', () => {
    const tool = named('same');
    expect(() => createToolRegistry([tool, tool])).toThrow(/tool_name_taken|got same/);
  });

  test('that differs in a letter is another tool', async () => {
    const registry = createToolRegistry([named('tool_a'), named('tool_b')]);
    expect(await registry.call(call('tool_b'), context())).toMatchObject({
      content: 'tool_b',
      isError: false,
    });
  });
});

test('an invalid tool is refused at registration with every fault', () => {
  const faulty = {
    name: 'two words',
    description: ' ',
    args: {},
    effects: 'some',
    run: 'x',
  } as unknown as Tool;
  expect(() => createToolRegistry([faulty])).toThrow(
    /tool_invalid|got two words, allowed name: .*description.*args.*effects.*run/,
  );
});

test.each<[string, object]>([
  ['argumentRoles', { argumentRoles: { typed: 1 } }],
  ['argumentRoles', { argumentRoles: { password: 'chars' } }],
  ['codeLanguage', { codeLanguage: 'lua' }],
  ['session', { session: 0 }],
  ['forPerson', { forPerson: true }],
])('an invalid declaration of %s is refused at registration: %j', (fault, declared) => {
  const faulty = { ...named('faulty'), ...declared } as unknown as Tool;
  expect(() => createToolRegistry([faulty])).toThrow(`got faulty, allowed ${fault}: `);
});

test('a result holds how the call left the session that its tool saw last; that of a failed call does not', async () => {
  const view = (session: number): CommandView =>
    ({ session, state: 'exited', exitCode: 3, signal: null, output: 'long' }) as CommandView;
  const tool = defineTool({
    ...named('looks'),
    args: z.object({ fails: z.boolean() }),
    run: async ({ fails }, { sawSession }) => {
      for (const session of [1, 2]) sawSession?.(view(session));
      if (fails) throw new HoldfastError('internal', { reason: 'it was gone' });
      return 'looked';
    },
  });
  const registry = createToolRegistry([tool]);
  expect(await registry.call(call('looks', { fails: false }), context())).toEqual({
    ...{ callId: 'c', tool: 'looks', content: 'looked', isError: false },
    session: { session: 2, state: 'exited', exitCode: 3 },
  });
  expect(await registry.call(call('looks', { fails: true }), context())).not.toHaveProperty('session');
});

test.each([
  ['an agent', { settings: { tools: ['tool_b', 'gone'] } }],
  ['a script', { settings: {}, caller: { allowed: ['tool_b', 'gone'] } }],
])('an unknown name is answered with the tools that %s may use, and no others', async (_, changes) => {
  const registry = createToolRegistry([named('tool_a'), named('tool_b')]);
  const { content } = await registry.call(call('tool_c'), context(changes as Partial<ToolContext>));
  expect(content).toMatch(/^Error unknown_tool: .*: got tool_c, allowed tool_b\./);
});

test('a registry knows its own tools and no other registry’s', async () => {
  createToolRegistry([named('elsewhere')]);
  const result = await createToolRegistry().call(call('elsewhere'), context());
  expect(result).toMatchObject({
    isError: true,
    content: expect.stringMatching(/^Error unknown_tool/) as string,
  });
});

test.each([
  ['zod', z.object({ count: z.number().describe('how many') })],
  ['zod/mini', mini.object({ count: mini.number() })],
])('arguments by a schema of %s are described, checked and typed', async (_name, args) => {
  const tool = defineTool<{ count: number }>({
    ...named('counts'),
    args,
    run: async ({ count }) => `got ${count + 1}`,
  });
  const registry = createToolRegistry([tool]);
  expect(registry.describe().at(-1)).toMatchObject({
    name: 'counts',
    parameters: { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] },
  });
  expect(await registry.call(call('counts', { count: 1 }), context())).toMatchObject({ content: 'got 2' });
  expect(await registry.call(call('counts', { count: 'x' }), context())).toMatchObject({
    isError: true,
    content: expect.stringMatching(/^Error invalid_input: The call to counts.*"\/count"/) as string,
  });
});

test.each([
  ['code_execution_tool', ['runtime']],
  ['input', undefined],
  ['wait', ['sessions']],
])('the model is told that %s requires whatever has no default: %j', (name, required) => {
  const described = createToolRegistry()
    .describe()
    .find((tool) => tool.name === name);
  expect((described?.parameters as { required?: string[] }).required).toEqual(required);
});

describe('a tool that throws', () => {
  const run = (
    effects: Tool['effects'],
    changes: Partial<ToolContext>,
    err = new Error('connection reset'),
  ) => createToolRegistry([throwing(effects, err)]).call(call('throwing'), context(changes));

  test.each(['read_only', 'idempotent'] as const)(
    'is retried, and after the last attempt the model is told: %s',
    async (effects) => {
      await expect(run(effects, { attempt: 4 })).rejects.toThrow('connection reset');
      expect(await run(effects, { attempt: 5 })).toMatchObject({
        isError: true,
        content: expect.stringMatching(/^Error tool_failed.*attempts: 5\): connection reset/) as string,
      });
    },
  );

  test('and may have had its effect does not run again: its outcome is unknown', async () => {
    expect(await run('once', {})).toMatchObject({
      isError: true,
      content: expect.stringMatching(/^Error unknown_outcome.*connection reset/) as string,
    });
  });

  test('an error of the catalogue tells the model what to correct', async () => {
    const err = new HoldfastError('not_found', { what: 'The article', got: 'x' });
    expect(await run('once', {}, err)).toMatchObject({
      isError: true,
      content: expect.stringMatching(/^Error not_found/) as string,
    });
  });

  test('because its turn was stopped is cancelled, not answered', async () => {
    await expect(run('once', { signal: AbortSignal.abort() })).rejects.toThrow('connection reset');
  });
});

test('a tool that may run once does not run in a second attempt', async () => {
  let runs = 0;
  const tool = defineTool({ ...named('deploy'), effects: 'once', run: async () => `${(runs += 1)}` });
  expect(await createToolRegistry([tool]).call(call('deploy'), context({ attempt: 2 }))).toMatchObject({
    isError: true,
    content: expect.stringMatching(/^Error unknown_outcome/) as string,
  });
  expect(runs).toBe(0);
});

test.each([
  [undefined, true],
  [true, true],
  [false, false],
])('exec_command and write_stdin are offered unless they are switched off: %s', (unifiedExec, offered) => {
  const names = createToolRegistry([], [], { unifiedExec })
    .describe()
    .map(({ name }) => name);
  expect(['exec_command', 'write_stdin'].map((name) => names.includes(name))).toEqual([offered, offered]);
});

test('every argument of a built-in tool of the host, and of unified exec, is described', () => {
  const described = createToolRegistry()
    .describe()
    .filter(({ name, runsOn }) => runsOn === 'host' || ['exec_command', 'write_stdin'].includes(name));
  const bare = described.flatMap(({ name, parameters }) =>
    Object.entries((parameters as { properties: Record<string, { description?: string }> }).properties)
      .filter(([, property]) => !property.description)
      .map(([argument]) => `${name}.${argument}`),
  );
  expect(described).toHaveLength(12);
  expect(bare).toEqual([]);
});

test('what fetch may ask of private addresses is checked when the registry is made', () => {
  expect(() => createToolRegistry([], [], { fetchPrivate: ['10.0.0.0/99'] })).toThrow(/10\.0\.0\.0\/99/);
});

describe('a tool that outlasts its time', () => {
  const slow = (effects: Tool['effects'], told: string[] = []): Tool =>
    defineTool({
      ...named('slow'),
      effects,
      timeoutMs: 20,
      run: (_args: unknown, { signal }) =>
        new Promise(() => signal.addEventListener('abort', () => told.push('told'))),
    });

  test('is reported, and counts as one that throws: it is retried, and after the last attempt its caller is told', async () => {
    const told: string[] = [];
    const registry = createToolRegistry([slow('idempotent', told)]);
    await expect(registry.call(call('slow'), context())).rejects.toThrow(/it timed out after 20 ms/);
    expect(told).toEqual(['told']);
    expect(await registry.invoke(call('slow'), context({ attempt: 5 }))).toMatchObject({
      ok: false,
      error: { code: 'tool_failed', message: expect.stringContaining('it timed out after 20 ms') as string },
    });
  });

  test('and may run once ends as unknown', async () => {
    expect(await createToolRegistry([slow('once')]).invoke(call('slow'), context())).toMatchObject({
      ok: false,
      error: { code: 'unknown_outcome' },
    });
  });
});

test.each([
  ['a script', 'invoke'],
  ['a model', 'call'],
] as const)('a result that is not JSON ends its call from %s, since its tool has run', async (_who, way) => {
  const result = { jsonSchema: {} };
  const tool = { ...named('odd'), result, run: () => Promise.resolve({ big: 1n }) } as unknown as Tool;
  const told = JSON.stringify(await createToolRegistry([tool])[way](call('odd'), context()));
  expect(told).toMatch(/result_undelivered.*BigInt/);
});

describe('an attempt after one that was cut off', () => {
  test.each(['call', 'invoke'] as const)(
    'of a tool that is not there any more is of unknown outcome, not said to be nothing (%s)',
    async (way) => {
      const registry = createToolRegistry();
      const told = async (attempt: number): Promise<string> =>
        JSON.stringify(await registry[way](call('gone'), context({ attempt })));
      expect(await told(1)).toContain('unknown_tool');
      expect(await told(2)).toMatch(/unknown_outcome.*the worker was lost during the call.*gone/);
    },
  );

  test('of a tool that runs once is of unknown outcome though its host allows it no more', async () => {
    const admit = (): never => {
      throw new HoldfastError('execution_disabled', { host: 'local' });
    };
    const registry = createToolRegistry([throwing('once', new Error('x'))]);
    const host = { admit } as unknown as ToolContext['host'];
    const told = async (attempt: number): Promise<string> =>
      (await registry.call(call('throwing'), context({ attempt, host }))).content;
    expect(await told(1)).toContain('execution_disabled');
    expect(await told(2)).toContain('unknown_outcome');
  });
});

test('a registry is settled when each source has tried to get its tools, whether it could or not', async () => {
  const reached: string[] = [];
  let tried = (): void => undefined;
  const source = {
    tools: () => [],
    onChange: () => () => undefined,
    settled: () => new Promise<void>((resolve) => (tried = resolve)),
  };
  const failing = { ...source, settled: () => Promise.reject(new Error('down')) };
  const registry = createToolRegistry([], [source, failing]);
  const settled = registry.settled().then(() => reached.push('settled'));
  await Promise.resolve();
  reached.push('before');
  tried();
  await settled;
  expect(reached).toEqual(['before', 'settled']);
});

test('ten thousand tools of a source are compared without a look at each pair; those with one name are left out', () => {
  const many = Array.from({ length: 10_000 }, (_, n) => named(`tool_${n}`));
  const twins = [named('Tool_5'), named('twin'), named('twin')];
  const source = { tools: () => [...many, ...twins], onChange: () => () => undefined };
  const registry = createToolRegistry([], [source]);
  expect(registry.faults()).toHaveLength(4);
  expect(registry.find('tool_9999').name).toBe('tool_9999');
});
