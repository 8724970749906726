// codex_tools.py in a real Python: what its functions look like, return and raise.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolDescription } from '../../../../contracts/tools/tools';
import { HANG_UP, ProtocolFault, Refusal, type SeenCall } from '../../../helpers/tools/tool-socket';
import { testEachOf } from '../../../helpers/run/long-run';
import { describedTool, objectOf, PYTHON, StubSession } from '../../../helpers/tools/stub-session';

const READ_FILE = describedTool({
  name: 'read_file',
  description: 'Reads a file. Fails where there is none.',
  parameters: objectOf(
    {
      limit: { type: 'integer', default: 2000, description: 'How many lines.' },
      file_path: { type: 'string', description: 'Where it lies.' },
      mode: { enum: ['text', 'hex'] },
      ranges: {
        type: 'array',
        items: { type: 'object', properties: { from: { type: 'integer' } }, required: ['from'] },
      },
      tags: { type: 'array', items: { type: 'string' }, default: ['a'] },
      labels: { type: 'object', additionalProperties: { type: 'number' } },
      until: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
      strict: { type: ['boolean', 'integer'] },
    },
    ['file_path'],
  ),
});
const COUNT = describedTool({ name: 'count-words', result: { type: 'integer' }, effects: 'once' });
const ODD = describedTool({
  name: 'send.header',
  parameters: objectOf(
    {
      'Content-Type': { type: 'string' },
      class: { type: 'string' },
      '2nd': { type: 'string' },
      _run: { type: 'string' },
      arguments: { type: 'string' },
    },
    ['Content-Type'],
  ),
});
const TOOLS: ToolDescription[] = [
  READ_FILE,
  COUNT,
  ODD,
  ...['class', 'list', 'print', 'call', '__getattr__', '2fast', 'open', 'locals', '_run', 'str', 'dict'].map(
    (name) => describedTool({ name }),
  ),
];

const answers: Record<string, (call: SeenCall) => unknown> = {
  read_file: ({ args }) => JSON.stringify(args),
  'count-words': () => 7,
  'send.header': ({ args }) => JSON.stringify(args),
  fails: () => new Refusal('invalid_input', 'The limit is invalid: got "x" at /limit.', true, 'e1c7'),
  refused: () => new ProtocolFault('draining', { next: 'later' }),
  lost: () => HANG_UP,
  typed: ({ args }) => args.value,
};

let session: StubSession;
beforeEach(async () => {
  session = await StubSession.start(TOOLS, (call) => (answers[call.tool] ?? (() => call.tool))(call));
});
afterEach(() => session.close());

const json = (expression: string, before = ''): Promise<unknown> =>
  session.pythonJson(`import json, inspect, codex_tools\n${before}\nprint(json.dumps(${expression}))`);

test('every function has a typed signature: required arguments first, then those with their defaults', async () => {
  expect(
    await json('{name: str(inspect.signature(getattr(codex_tools, name))) for name in codex_tools.__all__}'),
  ).toMatchObject({
    read_file:
      "(file_path: str, limit: int = 2000, mode: Literal['text', 'hex'] = Ellipsis, " +
      "ranges: list[dict[str, Any]] = Ellipsis, tags: list[str] = ['a'], labels: dict[str, float] = Ellipsis, " +
      'until: str | None = None, strict: bool | int = Ellipsis) -> str',
    count_words: '() -> int',
    send_header:
      '(Content_Type: str = Ellipsis, class_: str = Ellipsis, _2nd: str = Ellipsis, _run_: str = Ellipsis, ' +
      'arguments: str = Ellipsis, **arguments_: Any) -> str',
  });
});

test('every function has a docstring with its arguments, its result and its effects', async () => {
  expect(await json('inspect.getdoc(codex_tools.read_file)')).toBe(
    [
      'Reads a file. Fails where there is none.',
      '',
      'Args:',
      '    file_path (str): Where it lies.',
      '    limit (int, optional): How many lines.',
      '    mode (Literal["text", "hex"], optional):',
      '    ranges (list[dict[str, Any]], optional): Shape: Array<{ "from": number }>',
      '    tags (list[str], optional):',
      '    labels (dict[str, float], optional):',
      '    until (str | None, optional):',
      '    strict (bool | int, optional):',
      '',
      'Returns:',
      '    str',
      '',
      'Raises:',
      '    ToolError: the call failed; it has code, message, retryable and call_id.',
      '',
      'Effects: it only reads.',
    ].join('\n'),
  );
  expect(await json('[f for f in codex_tools.__all__ if not getattr(codex_tools, f).__doc__]')).toEqual([]);
});

test.each([
  ['codex_tools', ['codex_tools.aio.NAME', 'read_file(file_path: str, limit: int = 2000', 'count_words()']],
  ['codex_tools.read_file', ['read_file(file_path: str', 'Where it lies.', 'ToolError:']],
])('help(%s) names the functions, their types and their arguments', async (what, parts) => {
  const { stdout } = await session.python(`import codex_tools\nhelp(${what})`);
  for (const part of parts) expect(stdout).toContain(part);
  expect(stdout).not.toMatch(/_stubs|_runtime|TYPE_CHECKING/);
});

test('a call sends what was given and leaves out what was not', async () => {
  const result = await json('codex_tools.read_file("a b", mode="hex", until="x")');
  expect(JSON.parse(String(result))).toEqual({ file_path: 'a b', mode: 'hex', until: 'x' });
  expect(session.socket.calls).toMatchObject([
    { tool: 'read_file', token: 'secret', version: 1, verb: 'call', cwd: session.folder },
  ]);
});

testEachOf(
  [
    ['a text', '"wörld \u{1f600}"', '"wörld \u{1f600}"'],
    ['a number', '1.5', '1.5'],
    ['nothing', 'None', 'null'],
    ['a tree', '{"a": [1, {"b": None}, True]}', '{"a": [1, {"b": null}, true]}'],
    ['a path', 'pathlib.Path("/tmp/x")', '"/tmp/x"'],
    ['half a character', '"\\udc80"', '"\\udc80"'],
  ] as [string, string, string][],
  ([name]) => ['a tree', 'a path', 'half a character'].includes(name),
)('%s is passed and returned as the value it is', async (_name, value, expected) => {
  expect(await json(`codex_tools.call("typed", {"value": ${value}})`, 'import pathlib')).toEqual(
    JSON.parse(expected),
  );
});

test('a tool with a result schema returns the value, one without returns a text', async () => {
  expect(await json('[codex_tools.count_words(), codex_tools.print()]')).toEqual([7, 'print']);
});

test('arguments that are not identifiers are renamed, and accepted under their own names too', async () => {
  const sent = async (args: string): Promise<unknown> =>
    JSON.parse(String(await json(`codex_tools.send_header(${args})`)));
  expect(await sent('Content_Type="t", class_="c", _2nd="s", _run_="r", arguments="a"')).toEqual({
    'Content-Type': 't',
    class: 'c',
    '2nd': 's',
    _run: 'r',
    arguments: 'a',
  });
  expect(await sent('**{"Content-Type": "t", "class": "c", "_run": "r"}')).toEqual({
    'Content-Type': 't',
    class: 'c',
    _run: 'r',
  });
});

test.each([
  ['codex_tools.send_header(class_="c")', "TypeError: send_header() is missing the arguments 'Content-Type'"],
  ['codex_tools.read_file()', "TypeError: read_file() missing 1 required positional argument: 'file_path'"],
  ['codex_tools.read_file("a", limt=1)', "TypeError: read_file() got an unexpected keyword argument 'limt'"],
])('%s is told its mistake and nothing is sent', async (call, message) => {
  expect((await session.python(`import codex_tools\n${call}`)).stderr).toContain(message);
  expect(session.socket.calls).toEqual([]);
});

test('a tool may have the name of a keyword, a builtin or a part of the module', async () => {
  const names = [
    'class_',
    'list',
    'print',
    'call_',
    '__getattr___',
    '_2fast',
    'open',
    'locals',
    '_run_',
    'str',
  ];
  expect(await json(`[getattr(codex_tools, name)() for name in ${JSON.stringify(names)}]`)).toEqual(
    names.map((name) => (name === '_2fast' ? '2fast' : name.replace(/_$/, ''))),
  );
});

const caught = (call: string): Promise<unknown> =>
  json(
    'error',
    `import pickle
try:
    ${call}
except codex_tools.ToolError as raised:
    error = []
    for e in (raised, pickle.loads(pickle.dumps(raised))):
        error.append([type(e).__module__, e.code, e.message, e.retryable, e.call_id, str(e)])`,
  );

test.each([
  ['fails', ['invalid_input', 'The limit is invalid: got "x" at /limit.', true, 'e1c7']],
  ['refused', ['draining', 'The call was refused: {"next": "later"}', false, null]],
])(
  '%s raises a ToolError with code, message, retryable and call id, also after pickle',
  async (tool, fields) => {
    const shown = `${fields[0]}: ${fields[1]}${fields[3] === null ? '' : ` (call ${fields[3]})`}`;
    const error = ['codex_tools', ...fields, shown];
    expect(await caught(`codex_tools.call("${tool}", {})`)).toEqual([error, error]);
  },
);

test('a connection that closes without an answer is call_lost: its outcome is unknown', async () => {
  expect(await caught('codex_tools.call("lost")')).toMatchObject([
    ['codex_tools', 'call_lost', expect.stringContaining('unknown'), false, null, expect.any(String)],
    expect.any(Array),
  ]);
});

testEachOf(
  [
    ['a missing socket', 'os.environ["HOLDFAST_TOOL_SOCKET"] = "/nowhere/tools.sock"'],
    ['a path that is no socket', 'os.environ["HOLDFAST_TOOL_SOCKET"] = __file__'],
    ['a path too long for a socket', 'os.environ["HOLDFAST_TOOL_SOCKET"] = "/" + "x" * 200'],
    ['no environment', 'del os.environ["HOLDFAST_TOOL_SOCKET"]'],
  ] as [string, string][],
  ([name]) => ['a missing socket', 'no environment'].includes(name),
)('%s is tools_unavailable, and the module can still be imported', async (_name, before) => {
  expect(await caught(`import os; ${before}; codex_tools.count_words()`)).toMatchObject([
    [
      'codex_tools',
      'tools_unavailable',
      expect.stringContaining('Next: run'),
      false,
      null,
      expect.anything(),
    ],
    expect.any(Array),
  ]);
});

test('arguments that are not JSON are invalid_input', async () => {
  expect(await caught('codex_tools.read_file(object())')).toMatchObject([
    [
      'codex_tools',
      'invalid_input',
      expect.stringContaining('object is not JSON'),
      false,
      null,
      expect.anything(),
    ],
    expect.any(Array),
  ]);
});

test.each(['2**53 + 1', '{"a": [(1, {-(2**60)})]}', '10**400'])(
  'a whole number that would reach the tool as another is invalid_input: %s',
  async (value) => {
    expect(await caught(`codex_tools.call("typed", {"value": ${value}})`)).toMatchObject([
      [
        'codex_tools',
        'invalid_input',
        expect.stringContaining('beyond 2**53'),
        false,
        null,
        expect.anything(),
      ],
      expect.any(Array),
    ]);
    expect(session.socket.calls).toEqual([]);
  },
);

test('numbers that a tool can have are passed, however long their text is', async () => {
  const values = '[2**53, -(2**53), True, 1e300, 0.1234567890123456, "12345678901234567890"]';
  expect(await json(`codex_tools.call("typed", {"value": ${values}})`)).toEqual([
    2 ** 53,
    -(2 ** 53),
    true,
    1e300,
    0.1234567890123456,
    '12345678901234567890',
  ]);
});

describe('a tool that was registered while the script runs', () => {
  const late = describedTool({
    name: 'late-tool',
    description: 'Came later.',
    parameters: objectOf({ 'a b': { type: 'string' }, n: { type: 'integer', default: 3 }, must: {} }, [
      'must',
    ]),
  });
  const register = (...tools: ToolDescription[]): void => {
    rmSync(join(session.stubs, 'tools.json'));
    const entries = tools.map((tool) => ({ ...tool, function: tool.name.replace('-', '_') }));
    writeFileSync(join(session.stubs, 'next.json'), JSON.stringify(entries));
  };
  const AFTER_IMPORT = `import os, pickle
os.rename(os.environ["HOLDFAST_TOOLS"] + "/next.json", os.environ["HOLDFAST_TOOLS"] + "/tools.json")`;

  test('is a function with a signature, without a new import', async () => {
    register(late, describedTool({ name: 'import' }));
    expect(
      await json(
        '[codex_tools.late_tool(1, **{"a b": "x"}), codex_tools.import_(), codex_tools.tools(), ' +
          'str(inspect.signature(codex_tools.late_tool)), codex_tools.late_tool.__doc__, ' +
          '"late_tool" in dir(codex_tools), pickle.loads(pickle.dumps(codex_tools.late_tool)).__name__]',
        AFTER_IMPORT,
      ),
    ).toEqual([
      'late-tool',
      'import',
      ['late-tool', 'import'],
      '(must: Any, a_b: str = Ellipsis, n: int = 3, **arguments) -> str',
      'Came later.',
      true,
      'late_tool',
    ]);
    expect(session.socket.calls[0]?.args).toEqual({ must: 1, 'a b': 'x' });
  });

  test('is one for asyncio too', async () => {
    register(late);
    expect(
      await json('asyncio.run(codex_tools.aio.late_tool(must=1))', `import asyncio\n${AFTER_IMPORT}`),
    ).toBe('late-tool');
  });
});

test('a name that no tool has is an AttributeError that names close ones', async () => {
  const { stderr } = await session.python('import codex_tools\ncodex_tools.reed_file');
  expect(stderr).toMatch(/AttributeError: codex_tools has no tool 'reed_file'; did you mean read_file/);
});

test('`import *` brings the tools and nothing else', async () => {
  const source = 'before = set(globals())\nfrom codex_tools import *\nimport json as _json, sys as _sys\n';
  const names = 'sorted(set(globals()) - before - {"before", "_json", "_sys"})';
  expect(
    await session.pythonJson(
      `${source}_sys.stdout.write(_json.dumps(${names.replace('sorted', '__builtins__.sorted')}))`,
    ),
  ).toEqual((await json('sorted(codex_tools.__all__)')) as string[]);
});

test('an import loads nothing that a call needs', async () => {
  const script =
    'import sys; before = set(sys.modules); import codex_tools; print(sorted(set(sys.modules) - before))';
  const { stdout } = await session.run(PYTHON, ['-c', script]);
  expect(stdout.trim()).toBe("['__future__', '_codex_tools', 'codex_tools']");
});
