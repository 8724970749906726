// The command `tool` in a real shell: how it reads arguments, what it prints, how it ends.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HANG_UP, Refusal, type SeenCall } from '../../../helpers/tools/tool-socket';
import { describedTool, objectOf, StubSession } from '../../../helpers/tools/stub-session';

const TAKES = describedTool({
  name: 'takes',
  description: 'Takes all kinds. And says so.',
  parameters: objectOf({
    file_path: { type: 'string', description: 'Where it lies.' },
    limit: { type: 'integer', default: 2000 },
    ratio: { type: 'number' },
    force: { type: 'boolean' },
    command: { type: 'array', items: { type: 'string' } },
    sizes: { type: 'array', items: { type: 'integer' } },
    options: { type: 'object' },
    mode: { enum: ['text', 'hex', 3] },
    either: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    node: { $ref: '#/$defs/node' },
    'Content-Type': { type: 'string' },
    any: {},
  }),
  effects: 'once',
  result: {},
});
const TOOLS = [
  { ...TAKES, parameters: { ...TAKES.parameters, $defs: { node: { type: 'boolean' } } } },
  describedTool({ name: 'needs', parameters: objectOf({ path: { type: 'string' } }, ['path']) }),
  ...['text', 'number', 'tree', 'fails', 'busy', 'lost', 'big', 'down'].map((name) =>
    describedTool({ name }),
  ),
  describedTool({ name: 'my-tool', result: { type: 'object' } }),
  describedTool({ name: 'count', result: { type: 'integer' } }),
];

const answers: Record<string, (call: SeenCall) => unknown> = {
  takes: ({ args }) => args,
  needs: ({ args }) => args.path,
  text: () => 'no line end',
  'my-tool': () => ({ exit_code: 3 }),
  count: () => 7,
  fails: () => new Refusal('tool_failed', 'It broke.'),
  busy: () => new Refusal('busy', 'Too many.', true),
  lost: () => HANG_UP,
  big: () => 'line\n'.repeat(2_000_000),
};

let session: StubSession;
beforeAll(async () => {
  session = await StubSession.start(TOOLS, (call) => answers[call.tool]?.(call));
  writeFileSync(join(session.folder, 'long.txt'), 'from a file\n');
});
afterAll(() => session.close());

test.each<[string[], object]>([
  [['--file_path', 'a b'], { file_path: 'a b' }],
  [['--file_path=a=b'], { file_path: 'a=b' }],
  [['--file-path', '--limit'], { file_path: '--limit' }],
  [['--file_path', '12'], { file_path: '12' }],
  [['--file_path', '"quoted"'], { file_path: '"quoted"' }],
  [['--file_path', '@long.txt'], { file_path: '@long.txt' }],
  [['--file_path', ''], { file_path: '' }],
  [['--file_path', 'ü \u{1f600}'], { file_path: 'ü \u{1f600}' }],
  [['--limit', '-5', '--ratio', '1e3'], { limit: -5, ratio: 1000 }],
  [['--force'], { force: true }],
  [['--no-force', '--limit', '1'], { force: false, limit: 1 }],
  [['--force', 'false'], { force: false }],
  [['--force=true', '--node'], { force: true, node: true }],
  [['--command', 'ls', '--command', '-l'], { command: ['ls', '-l'] }],
  [['--command', 'ls'], { command: ['ls'] }],
  [['--command', '["ls","-l"]'], { command: ['ls', '-l'] }],
  [['--command', '[1]'], { command: ['[1]'] }],
  [['--sizes', '1', '--sizes', '2'], { sizes: [1, 2] }],
  [['--options', '{"a":[1]}'], { options: { a: [1] } }],
  [['--mode', 'hex'], { mode: 'hex' }],
  [['--mode', '3'], { mode: 3 }],
  [['--either', 'ls'], { either: 'ls' }],
  [['--either', 'ls', '--either', '-l'], { either: ['ls', '-l'] }],
  [['--maybe', 'null'], { maybe: null }],
  [['--Content-Type', 'x'], { 'Content-Type': 'x' }],
  [['--any', '{"a":1}'], { any: { a: 1 } }],
  [['--any', 'text'], { any: 'text' }],
  [['--file_path-from', 'long.txt'], { file_path: 'from a file\n' }],
  [['--any', '12345678901234567890 of them'], { any: '12345678901234567890 of them' }],
  [['--any', '[9007199254740992,1e300,"9007199254740993"]'], { any: [2 ** 53, 1e300, '9007199254740993'] }],
  [['--json', '{"limit":1,"__proto__":2}'], JSON.parse('{"limit":1,"__proto__":2}') as object],
  [['--json', '{"limit":1,"ratio":2}', '--limit', '3'], { limit: 3, ratio: 2 }],
])('%j is read by the types of the schema', async (words, args) => {
  const { code, stdout, stderr } = await session.tool(['takes', ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(session.socket.calls.at(-1)?.args).toEqual(args);
  expect(JSON.parse(stdout)).toEqual(args);
});

test.each([
  [['--file_path-from', '-'], 'a\nb', { file_path: 'a\nb' }],
  [['--json', '-'], '{"limit": 4}', { limit: 4 }],
  [['--options-from', '-'], '{"a": 1}', { options: { a: 1 } }],
])('%j reads standard input', async (words, stdin, args) => {
  expect(JSON.parse((await session.tool(['takes', ...words], stdin)).stdout)).toEqual(args);
});

test.each([
  [['takes', '--limit', '1.5'], '--limit is invalid: got 1.5, allowed integer'],
  [['takes', '--limit', '99999999999999999999'], 'allowed integer'],
  [['takes', '--ratio', 'Infinity'], 'allowed number'],
  [['takes', '--ratio', '9007199254740993'], 'allowed number; whole numbers only up to 2**53'],
  [['takes', '--any', '9007199254740993'], 'whole numbers only up to 2**53'],
  [['takes', '--options', '{"id":-9007199254740993}'], 'allowed object; whole numbers only up to 2**53'],
  [['takes', '--json', '{"any":[9007199254740993]}'], '2**53: pass larger ones as text'],
  [['takes', '--force=maybe'], 'allowed boolean'],
  [['takes', '--options', '[1]'], 'allowed object'],
  [['takes', '--sizes', 'x'], 'allowed integer'],
  [['takes', '--mode', 'octal'], 'allowed text|hex|3'],
  [['takes', '--limit'], '--limit needs a value'],
  [['takes', '--limit', '1', '--limit', '2'], '--limit was given twice'],
  [['takes', '--no-limit'], 'unknown option: got --no-limit, allowed --file_path'],
  [['takes', 'word'], 'arguments are named: got word'],
  [['takes', '--json', '[]'], '--json is invalid'],
  [['takes', '--file_path-from', 'nowhere'], 'cannot read nowhere'],
  [['takes', '--json', '-', '--file_path-from', '-'], 'standard input can only be read once'],
  [['needs'], '--path is required'],
  [['tekst'], 'no tool has this name: got tekst, allowed takes, needs'],
])('%j is a mistake in usage, and nothing is called', async (words, message) => {
  const before = session.socket.calls.length;
  const { code, stdout, stderr } = await session.tool(words, '{}');
  expect({ code, stdout, calls: session.socket.calls.length }).toEqual({
    code: 64,
    stdout: '',
    calls: before,
  });
  expect(stderr).toMatch(/^usage: .*\nSee tool --help, tool NAME --help.\n$/);
  expect(stderr).toContain(message);
});

test.each([
  [['text'], 'no line end'],
  [['text', '--raw-json'], '"no line end"\n'],
  [['count'], '7\n'],
  [['my-tool'], '{"exit_code":3}\n'],
  [['my_tool', '--raw-json'], '{"exit_code":3}\n'],
])('%j prints its result and succeeds, whatever exit code is in it', async (words, stdout) => {
  expect(await session.tool(words)).toEqual({ code: 0, signal: null, stdout, stderr: '' });
});

test.each([
  [['fails'], 1, 'tool_failed: It broke.\n'],
  [
    ['fails', '--raw-json'],
    1,
    '{"code":"tool_failed","message":"It broke.","retryable":false,"callId":"c0ffee"}\n',
  ],
  [['busy'], 75, 'busy: Too many.\n'],
  [['lost'], 1, 'call_lost: The connection closed before lost answered.'],
])('%j ends with its own exit status: %i', async (words, code, message) => {
  const ran = await session.tool(words);
  expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: '' });
  expect(ran.stderr.slice(0, message.length)).toBe(message);
});

test('outside of a session it ends with 69', async () => {
  const ran = await session.run('tool', ['text'], { env: { HOLDFAST_TOOL_SOCKET: '' } });
  expect(ran).toMatchObject({ code: 69, stderr: expect.stringMatching(/^tools_unavailable: /) as string });
});

test('a reader that has seen enough is not a failure', async () => {
  const { stdout, stderr } = await session.run('bash', ['-c', 'tool big | head -1; echo "${PIPESTATUS[0]}"']);
  expect({ stdout, stderr }).toEqual({ stdout: 'line\n0\n', stderr: '' });
});

test('a result of 10 MB comes whole through a pipe', async () => {
  const { stdout } = await session.run('sh', ['-c', 'tool big | wc -c']);
  expect(Number(stdout)).toBe(10_000_000);
});

test('tool --help lists the tools by their first sentence and says how to call them', async () => {
  const { code, stdout } = await session.tool(['--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ {2}takes +Takes all kinds\.$/m);
  expect(stdout).toMatch(/--NAME-from FILE .*\n[^]*Exit status: 0 .* 64 usage, 69/);
  expect((await session.tool([])).stdout).toBe(stdout);
});

test('tool NAME --help names its arguments with type, default and whether they are required', async () => {
  const { stdout } = await session.tool(['takes', '--help']);
  expect(stdout).toContain('Takes all kinds. And says so.\nEvery call repeats its effect.');
  expect(stdout).toContain('  --file_path  (string)\n      Where it lies.\n');
  expect(stdout).toContain('  --limit  (integer, default 2000)\n');
  expect(stdout).toContain('  --either  (string or list of string)\n');
  expect((await session.tool(['needs', '--help'])).stdout).toContain('  --path  (string, required)\n');
});

test('tool --raw-json prints the manifest', async () => {
  const { stdout } = await session.tool(['--raw-json']);
  expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual(
    TOOLS.map(({ name }) => name),
  );
});

describe('bin/tool starts', () => {
  test('through a linked folder with blanks, a link to itself, and a relative path', async () => {
    const other = join(session.folder, 'other folder');
    mkdirSync(other);
    symlinkSync(session.stubs, join(other, 'linked stubs'));
    symlinkSync(join(session.stubs, 'bin', 'tool'), join(other, 'tool'));
    for (const path of [`${other}/linked stubs/bin/tool`, `${other}/tool`, './stubs/bin/tool'])
      expect(await session.run(path, ['text'])).toMatchObject({ code: 0, stdout: 'no line end' });
  });

  test('whatever the session’s own programs ask of Node', async () => {
    const env = { NODE_OPTIONS: '--require /nowhere.js' };
    expect(await session.run('tool', ['text'], { env })).toMatchObject({ code: 0, stdout: 'no line end' });
  });
});
