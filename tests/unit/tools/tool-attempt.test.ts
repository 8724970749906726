// What a tool's author wrote may throw, be async or never end, in every place: what its caller then learns, and how often
// the tool has run.
import { z } from 'zod';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { EFFECTS, type JsonValue } from '../../../contracts/tools/tools';
import { createToolRegistry } from '../../../tools/registry';
import { defineTool, type Tool, type ToolContext } from '../../../tools/tool';

const WAYS = ['call', 'invoke'] as const;
const EACH = EFFECTS.flatMap((effects) => WAYS.map((way) => [effects, way] as const));

let runs = 0;
beforeEach(() => (runs = 0));

const counting = (changes: Partial<Tool>): Tool =>
  defineTool({
    name: 'counting',
    description: 'Counts how often it runs.',
    args: z.object({ id: z.string() }),
    effects: 'read_only',
    run: async () => `ran ${++runs}`,
    ...changes,
  });

async function told(tool: Tool, way: (typeof WAYS)[number] = 'call', attempt = 1): Promise<string> {
  const signal = new AbortController().signal;
  const context = { attempt, settings: {}, signal, caller: null, host: null } as unknown as ToolContext;
  const call = { callId: 'c', tool: 'counting', args: { id: '5' } };
  return JSON.stringify(await createToolRegistry([tool])[way](call, context));
}

const idThat = (check: (id: string) => boolean | Promise<boolean>): Tool['args'] =>
  z.object({ id: z.string().refine(check, 'no such id') });
const boom = (): never => {
  throw new Error('the database is down');
};

describe('a schema of arguments', () => {
  test.each(WAYS)(
    'may look something up: what it accepts runs, what it refuses does not (%s)',
    async (way) => {
      expect(await told(counting({ args: idThat(async (id) => id === '5') }), way)).toContain('ran 1');
      const refused = await told(counting({ args: idThat(async (id) => id !== '5') }), way);
      expect(refused).toMatch(/invalid_input.*The call to counting.*no such id/);
      expect(runs).toBe(1);
    },
  );

  test.each(EACH)('that throws fails its call at once, and runs nothing: %s, %s', async (effects, way) => {
    for (const args of [idThat(boom), idThat(async () => boom())]) {
      const said = await told(counting({ args, effects }), way);
      expect(said).toMatch(/tool_failed.*`args` failed, so `run` was not called: the database is down/);
    }
    expect(runs).toBe(0);
  });

  test('that throws after an attempt that was cut off says nothing of that attempt', async () => {
    for (const effects of EFFECTS)
      expect(await told(counting({ args: idThat(boom), effects }), 'call', 2)).toContain('unknown_outcome');
  });

  test('that refuses with an error of the catalogue is quoted', async () => {
    const args = idThat(() => {
      throw new HoldfastError('not_found', { what: 'The article', got: '5' });
    });
    expect(await told(counting({ args }))).toContain('Error not_found: The article does not exist: got 5');
  });

  test('that never ends has the tool’s time, no longer', async () => {
    const args = idThat(() => new Promise(() => undefined));
    expect(await told(counting({ args, timeoutMs: 20 }))).toMatch(/tool_failed.*timed out after 20 ms/);
  });
});

describe('a result', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  test.each<[string, Partial<Tool>, RegExp]>([
    ['whose `text` throws', { text: boom }, /the database is down/],
    ['whose `text` is no text', { text: (() => 5) as unknown as Tool['text'] }, /its `text` gave a number/],
    ['whose `text` is nothing', { text: (() => undefined) as unknown as Tool['text'] }, /gave nothing/],
    ['that contains itself', { run: async () => (++runs, cyclic as JsonValue) }, /circular/],
    ['that is a function', { run: async () => (++runs, boom as unknown as JsonValue) }, /it gave a function/],
  ])('%s is said to be lost, and its tool does not run again', async (_what, changes, reason) => {
    const run = changes.run ?? ((): Promise<JsonValue> => Promise.resolve(++runs));
    for (const effects of EFFECTS) {
      const said = await told(counting({ ...changes, run, effects }));
      expect(said).toMatch(/Error result_undelivered: The tool counting ran, but/);
      expect(said).toMatch(reason);
    }
    expect(runs).toBe(EFFECTS.length);
  });

  test('need not be there', async () => {
    const run = (() => Promise.resolve()) as unknown as Tool['run'];
    expect(await told(counting({ run }))).toContain('"content":"null","isError":false');
  });
});

test('an error of the catalogue from another copy of this package counts as one', async () => {
  let another: typeof HoldfastError | undefined;
  jest.isolateModules(() => {
    another = jest.requireActual<{ HoldfastError: typeof HoldfastError }>(
      '../../../contracts/errors/holdfast-error',
    ).HoldfastError;
  });
  const Another = another as typeof HoldfastError;
  const refusing = (effects: Tool['effects']): Tool =>
    counting({
      effects,
      run: () => Promise.reject(new Another('not_found', { what: 'The article', got: '5' })),
    });
  expect(new Another('not_found', { what: 'x', got: '5' })).not.toBeInstanceOf(HoldfastError);
  for (const effects of EFFECTS)
    expect(await told(refusing(effects))).toContain('Error not_found: The article does not exist: got 5');
});

test('a server that is away does not end a call that may be repeated: the next attempt finds what this one has begun', async () => {
  const away = (effects: Tool['effects']): Tool =>
    counting({
      effects,
      run: () => Promise.reject(new HoldfastError('no_server', { address: 'a:1', reason: 'refused' })),
    });
  const said = 'No Temporal server answers at a:1: refused';
  for (const way of WAYS)
    for (const effects of EFFECTS) {
      if (effects !== 'once') await expect(told(away(effects), way, 1)).rejects.toThrow(said);
      expect(await told(away(effects), way, effects === 'once' ? 1 : 5)).toMatch(/no_server.*refused/);
    }
});

test('what a tool throws is cut to a size that a history takes, in each attempt', async () => {
  const long = new Error(`HTTP 500: ${'x'.repeat(3_000_000)}`);
  const failing = (effects: Tool['effects']): Tool => counting({ effects, run: () => Promise.reject(long) });
  for (const way of WAYS) {
    await expect(told(failing('read_only'), way, 1)).rejects.toThrow(
      /^HTTP 500: x{1,70000}\n.*characters left out/,
    );
    expect((await told(failing('read_only'), way, 5)).length).toBeLessThan(100_000);
    expect((await told(failing('once'), way)).length).toBeLessThan(100_000);
  }
});
