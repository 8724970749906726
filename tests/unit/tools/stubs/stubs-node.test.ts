// codex-tools in a real Node: CommonJS, ES module and types.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HANG_UP, ProtocolFault, Refusal, type SeenCall } from '../../../helpers/tools/tool-socket';
import { describedTool, objectOf, StubSession } from '../../../helpers/tools/stub-session';
import { until } from '../../../helpers/until';

const TOOLS = [
  describedTool({
    name: 'read_file',
    description: 'Reads a file.',
    parameters: objectOf(
      {
        file_path: { type: 'string', description: 'Where it lies.' },
        limit: { type: 'integer', default: 2000 },
        mode: { enum: ['text', 'hex'] },
        'Content-Type': { type: 'string' },
      },
      ['file_path'],
    ),
  }),
  describedTool({ name: 'count-words', result: { type: 'object', properties: { n: { type: 'integer' } } } }),
  ...['class', 'then', 'delete', 'call', 'constructor', '__proto__', 'default', 'never'].map((name) =>
    describedTool({ name }),
  ),
];

/** `meet` answers once two calls of it wait. */
function answering(): (call: SeenCall) => unknown {
  let waiting: (() => void) | undefined;
  const known: Record<string, (call: SeenCall) => unknown> = {
    read_file: ({ args }) => JSON.stringify(args),
    'count-words': () => ({ n: 7 }),
    echo: ({ args }) => args.value,
    fails: () => new Refusal('busy', 'Too many.', true, 'e1c7'),
    refused: () => new ProtocolFault('draining', { next: 'later' }),
    lost: () => HANG_UP,
    never: () => new Promise(() => undefined),
    meet: () =>
      new Promise((resolve) => {
        if (waiting) {
          waiting();
          resolve('met');
        } else waiting = () => resolve('met');
      }),
  };
  return (call) => (Object.hasOwn(known, call.tool) ? known[call.tool]?.(call) : call.tool);
}

let session: StubSession;
beforeEach(async () => {
  session = await StubSession.start(TOOLS, answering());
});
afterEach(() => session.close());

const json = (expression: string, before = ''): Promise<unknown> =>
  session.nodeJson(`const tools = require('codex-tools');
(async () => { ${before}; console.log(JSON.stringify(${expression})); })();`);

test('a call sends its arguments and resolves with the text or the value', async () => {
  expect(
    await json(
      "[await tools.read_file({ file_path: 'ü \u{1f600}', 'Content-Type': 't' }), await tools.count_words()]",
    ),
  ).toEqual([JSON.stringify({ file_path: 'ü \u{1f600}', 'Content-Type': 't' }), { n: 7 }]);
  expect(session.socket.calls[0]).toMatchObject({ token: 'secret', version: 1, cwd: session.folder });
});

test('a tool may have the name of a keyword or of a part of the module', async () => {
  const names = ['class_', 'then_', 'delete_', 'call_', 'constructor', '__proto___', 'default_'];
  const expected = ['class', 'then', 'delete', 'call', 'constructor', '__proto__', 'default'];
  expect(await json(`await Promise.all(${JSON.stringify(names)}.map((name) => tools[name]()))`)).toEqual(
    expected,
  );
  expect(
    await session.nodeJson(
      `import tools, { class_, then_, delete_, call_, constructor, __proto___, default_ } from '${session.stubs}/node/codex-tools/index.mjs';
const all = [class_, then_, delete_, call_, constructor, __proto___, default_];
console.log(JSON.stringify(await Promise.all(all.map((call) => call()))));`,
      'mjs',
    ),
  ).toEqual(expected);
});

test('the ES module has named exports and the same live object as its default', async () => {
  expect(
    await session.nodeJson(
      `import { createRequire } from 'node:module';
import tools, { read_file, ToolError } from '${session.stubs}/node/codex-tools/index.mjs';
const cjs = createRequire(import.meta.url)('codex-tools');
const loaded = await import('${session.stubs}/node/codex-tools/index.mjs');
console.log(JSON.stringify([
  read_file === tools.read_file, tools === cjs, ToolError === cjs.ToolError, loaded.default === tools,
  await read_file({ file_path: 'x' }),
]));`,
      'mjs',
    ),
  ).toEqual([true, true, true, true, '{"file_path":"x"}']);
});

test('a tool that is registered while the script runs is found on the object', async () => {
  const late = [...TOOLS, describedTool({ name: 'late-tool' })].map((tool) => ({
    ...tool,
    function: tool.name.replace('-', '_'),
  }));
  const next = join(session.stubs, 'next.json');
  writeFileSync(next, JSON.stringify(late));
  expect(
    await json(
      "[before, await tools.late_tool(), 'late_tool' in tools, Object.keys(tools).includes('late_tool')]",
      `const before = typeof tools.late_tool;
       require('node:fs').renameSync(process.env.HOLDFAST_TOOLS + '/next.json', process.env.HOLDFAST_TOOLS + '/tools.json')`,
    ),
  ).toEqual(['undefined', 'late-tool', true, true]);
});

const caught = (call: string): Promise<unknown> =>
  json(
    '[error instanceof tools.ToolError, error.name, error.code, error.message, error.retryable, error.callId]',
    `const error = await ${call}.catch((err) => err)`,
  );

test.each([
  ["tools.call('fails')", ['busy', 'Too many.', true, 'e1c7']],
  ["tools.call('refused')", ['draining', 'The call was refused: {"next":"later"}', false, null]],
  ["tools.call('lost')", ['call_lost', expect.stringContaining('outcome is unknown'), false, null]],
  ["tools.read_file('x')", ['invalid_input', expect.stringContaining('one object'), false, null]],
  ['tools.read_file({ limit: 1n })', ['invalid_input', expect.stringContaining('BigInt'), false, null]],
  [
    "tools.read_file({ file_path: 'x'.repeat(16 * 1024 * 1024) })",
    ['arguments_too_large', expect.stringContaining('allowed 16777216'), false, null],
  ],
])('%s rejects with a ToolError that has code, message, retryable and callId', async (call, fields) => {
  expect(await caught(call)).toEqual([true, 'ToolError', ...(fields as unknown[])]);
});

test.each([
  ['a missing socket', 'process.env.HOLDFAST_TOOL_SOCKET = "/nowhere/tools.sock"'],
  ['no environment', 'delete process.env.HOLDFAST_TOOL_SOCKET'],
])('%s is tools_unavailable', async (_name, before) => {
  expect(await caught(`(${before}, tools.read_file({ file_path: 'x' }))`)).toEqual([
    true,
    'ToolError',
    'tools_unavailable',
    expect.stringContaining('Next: run the script'),
    false,
    null,
  ]);
});

test('calls run in parallel, each with its own answer, more than the socket queues', async () => {
  expect(
    await json(
      '[await Promise.all([tools.call("meet"), tools.call("meet")]), tags.every((tag, n) => tag === n)]',
      'const tags = await Promise.all(Array.from({ length: 700 }, (_, value) => tools.call("echo", { value })))',
    ),
  ).toEqual([['met', 'met'], true]);
});

test('arguments and results of 10 MB pass', async () => {
  expect(
    await json(
      "(await tools.call('echo', { value: text })) === text",
      "const text = '0123456789'.repeat(1_000_000)",
    ),
  ).toBe(true);
});

test('a signal cancels a call by closing its connection', async () => {
  expect(
    await json(
      '[error.name, await tools.call("echo", { value: 1 })]',
      `const stop = new AbortController();
       const call = tools.never({}, { signal: stop.signal }).catch((err) => err);
       await tools.call('echo', { value: 0 });
       stop.abort();
       const error = await call`,
    ),
  ).toEqual(['AbortError', 1]);
  await until(() => session.socket.calls[0]?.isCancelled === true);
});

test('a pending call keeps the process alive, and a finished one does not', async () => {
  const { code, stdout } = await session.node(
    "require('codex-tools').call('echo', { value: 'answered' }).then(console.log)",
  );
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'answered\n' });
});

describe('index.d.ts', () => {
  // The compiler takes seconds of processor time, and a busy machine many times as long.
  const COMPILED_MS = 240_000;
  const check = async (source: string, kind: 'commonjs' | 'nodenext' = 'commonjs'): Promise<string> => {
    const file = join(session.folder, kind === 'commonjs' ? 'user.cts' : 'user.mts');
    const main = `./stubs/node/codex-tools${kind === 'commonjs' ? '' : '/index.mjs'}`;
    const names = 'read_file, count_words, ToolError';
    writeFileSync(file, `import tools, { ${names} } from '${main}';\n${source}`);
    const flags = ['--noEmit', '--strict', '--esModuleInterop', '--target', 'es2022', '--module', kind, file];
    const ran = await session.run(process.execPath, [require.resolve('typescript/bin/tsc'), ...flags]);
    return ran.stdout;
  };

  test.each(['commonjs', 'nodenext'] as const)(
    'accepts what the schemas allow: %s',
    async (kind) => {
      const source = `
async function main(): Promise<number | undefined> {
  const text: string = await read_file({ file_path: 'x', limit: 3, mode: 'hex', 'Content-Type': 't' });
  await tools.late_tool({ anything: text });
  const error = new ToolError('code', 'message');
  const id: string | null = error.callId;
  return (await count_words()).n ?? id?.length;
}
void main;`;
      expect(await check(source, kind)).toBe('');
    },
    COMPILED_MS,
  );

  test.each([
    ['read_file({ file_path: 1 })', "Type 'number' is not assignable to type 'string'"],
    ["read_file({ file_path: 'x', limt: 1 })", "'limt' does not exist"],
    ["read_file({ file_path: 'x', mode: 'octal' })", `Type '"octal"' is not assignable`],
    ['read_file()', 'Expected 1-2 arguments'],
    ['count_words({ a: 1 })', "Type 'number' is not assignable to type 'never'"],
  ])(
    'rejects %s',
    async (call, message) => {
      expect(await check(`void ${call};`)).toContain(message);
    },
    COMPILED_MS,
  );
});

test('a folder that was moved still has its tools', async () => {
  const moved = join(session.folder, 'moved stubs');
  renameSync(session.stubs, moved);
  const { stdout } = await session.node(
    `require('${moved}/node/codex-tools').class_().then(console.log)`,
    'cjs',
    { HOLDFAST_TOOLS: '' },
  );
  expect(stdout).toBe('class\n');
});
