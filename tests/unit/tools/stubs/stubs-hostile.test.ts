// Names, descriptions and schemas come from strangers: whatever they hold is text in the generated code.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSourceFile, ScriptTarget, transpileModule } from 'typescript';
import type { JsonSchema, ToolDescription } from '../../../../contracts/tools/tools';
import { testEachOf } from '../../../helpers/run/long-run';
import { describedTool, objectOf, StubSession } from '../../../helpers/tools/stub-session';

const TEXTS: Record<string, string> = {
  quotes: `'"'''"""`,
  'Python that ends its docstring': '"""\nopen("pwned", "w")\n"""',
  'Python that ends an escaped one': '\\"""\nopen("pwned", "w")\n\\"""',
  'quotes at the end': 'text"',
  'a backslash at the end': 'text\\',
  'escapes of Python': '\\N{BULLET} \\x \\u12 \\U99999999 \\',
  'JavaScript that ends its comment': '*/ require("fs").writeFileSync("pwned", ""); /*',
  'a comment that ends over two lines': '*\n/ require("fs").writeFileSync("pwned", "") //',
  'a template': '${require("fs").writeFileSync("pwned", "")}`',
  'line ends': 'a\r\nb\rc\u2028d\u2029e\u0085f\u000bg\u000ch',
  controls: Array.from({ length: 160 }, (_, code) => String.fromCharCode(code)).join(''),
  'half a character': '\ud800 and \udc00',
  'marks of direction': 'a\u202e\u2066b\u2069 \ufeff\u200b\u{e0041}',
  'much of it': 'very long """ \\ '.repeat(20_000),
  'a shell': "'; touch pwned; echo $(touch pwned) `touch pwned` '",
  '%s and {}': '%s %(x)s {} {0}',
};
/** Objects inside of objects, deeper than any parser likes. */
const deep = (depth: number): JsonSchema => {
  let schema: JsonSchema = { type: 'string' };
  for (let level = 0; level < depth; level += 1) schema = { type: 'array', items: schema };
  return schema;
};
const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown;
const wide = objectOf(Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`f${n}`, { $ref: '#' }])));

const SCHEMAS: Record<string, unknown> = {
  'a schema deeper than the stack': { type: 'object', properties: { a: deep(500) } },
  'a default deeper than the stack': { type: 'object', properties: { a: { default: nested(500) } } },
  'a schema that grows out of itself': wide,
  'a union that grows out of itself': {
    type: 'object',
    properties: { a: { anyOf: Array.from({ length: 12 }, () => ({ $ref: '#/properties/a' })) } },
  },
  'an endless reference': { type: 'object', properties: { a: { $ref: '#/properties/a' } } },
  'a reference to nothing': { type: 'object', properties: { a: { $ref: '#/constructor/__proto__' } } },
  'a thousand choices': {
    type: 'object',
    properties: { a: { enum: Array.from({ length: 1000 }, (_, n) => n) } },
  },
  'no schema at all': { properties: 'none', required: 'all', additionalProperties: 'some' },
  'properties that are none': {
    type: 'object',
    properties: { a: true, b: null, c: 1, d: [] },
    required: [1, null, 'x'],
  },
  'types that are none': {
    type: 'object',
    properties: { a: { type: 'x' }, b: { type: [] }, c: { anyOf: [] }, d: { enum: [] } },
  },
  'numbers of all sizes': {
    type: 'object',
    properties: {
      a: { default: 1e308 },
      b: { default: -0 },
      c: { enum: [1e21, 0.1] },
      d: { default: 2 ** 53 },
    },
  },
};

/** The text wherever text is possible. */
const toolOf = (name: string, text: string): ToolDescription =>
  describedTool({
    name,
    description: text,
    parameters: {
      type: 'object',
      properties: {
        [text]: { type: 'string', description: text },
        ok: { description: text, default: text.slice(0, 150) },
        choice: { enum: [text.slice(0, 70), 'b'], default: [{ [text]: text }] },
        tree: { type: 'object', properties: { [text.slice(0, 50)]: { const: text.slice(0, 50) } } },
      },
      required: [text],
    },
    result: { type: 'object', properties: { [text.slice(0, 60)]: { enum: [text.slice(0, 60)] } } },
  });

/** Compiles, imports and asks for help in all languages; a text that ran would leave a file. */
async function checkAll(tools: readonly ToolDescription[], helped: readonly string[]): Promise<void> {
  const session = await StubSession.start(tools);
  try {
    const python = await session.python(
      `import ast, inspect, io, pydoc, codex_tools
source = open(codex_tools.__file__, encoding="utf-8").read()
for node in ast.parse(source).body:
    if isinstance(node, ast.FunctionDef):
        assert len(node.body) == 2 and isinstance(node.body[0], ast.Expr), ast.dump(node)
        assert not node.decorator_list
assert len(ast.parse(source).body) == 17 + len(codex_tools.__all__), len(ast.parse(source).body)
for name in codex_tools.__all__:
    function = getattr(codex_tools, name)
    inspect.signature(function)
    for annotation in function.__annotations__.values():
        ast.parse(str(annotation), mode="eval")
    codex_tools.aio.__getattr__(name)
    codex_tools._stubs.define("again", next(e for e in codex_tools._runtime._manifest() if e["name"] == codex_tools._stubs.table[name][0]))
pydoc.render_doc(codex_tools)
print(len(codex_tools.__all__))`,
    );
    expect(python).toMatchObject({ code: 0, stdout: `${tools.length}\n`, stderr: '' });
    const main = `${session.stubs}/node/codex-tools/index`;
    const node = await session.node(
      `import tools, * as named from '${main}.mjs';
console.log(Object.keys(named).length, tools.tools().length);`,
      'mjs',
    );
    expect(node).toMatchObject({ code: 0, stdout: `${tools.length + 4} ${tools.length}\n`, stderr: '' });
    const types = readFileSync(`${main}.d.ts`, 'utf8');
    const { diagnostics } = transpileModule(types, { reportDiagnostics: true, fileName: 'index.ts' });
    expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([]);
    expect(createSourceFile('index.d.ts', types, ScriptTarget.ESNext).statements).toHaveLength(
      tools.length + 7,
    );
    for (const tool of helped) {
      const help = await session.run('tool', [tool, '--help']);
      expect({ tool, ...help }).toMatchObject({ tool, code: 0, stderr: '' });
      // eslint-disable-next-line no-control-regex -- nothing that moves a terminal's cursor
      expect(help.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    }
    expect(existsSync(join(session.folder, 'pwned'))).toBe(false);
  } finally {
    await session.close();
  }
}

const withText = Object.values(TEXTS).map((text, n) => toolOf(`text${n}`, text));
const withSchema = Object.values(SCHEMAS).map((schema, n) => {
  const parameters = schema as JsonSchema;
  return describedTool({ name: `schema${n}`, parameters, result: parameters });
});
const namesOf = (tools: readonly ToolDescription[]): string[] => tools.map(({ name }) => name);

test('texts and schemas of every kind do nothing and break nothing, all in one session', async () => {
  const tools = [...withText, ...withSchema];
  await checkAll(tools, namesOf(tools));
}, 60_000);

/** Which of them it was, when the test above fails. */
const ALONE = [...Object.keys(TEXTS), ...Object.keys(SCHEMAS)].map((kind, n) => [kind, n] as const);
testEachOf(ALONE, ([kind]) => kind === 'quotes')(
  '%s alone does nothing and breaks nothing',
  async (_kind, n) => {
    const tool = [...withText, ...withSchema][n] as ToolDescription;
    await checkAll([tool], [tool.name]);
  },
);

test('a tool may have any word as its name, and its arguments too', async () => {
  const words = [
    ...'abstract any arguments as async await boolean class const debugger declare default delete enum eval'.split(
      ' ',
    ),
    ...'export from function get global import in let module namespace never null number object of package'.split(
      ' ',
    ),
    ...'print require return self set static str super symbol then this type typeof undefined unknown void'.split(
      ' ',
    ),
    ...'yield __init__ __dict__ __proto__ __debug__ constructor prototype exports aio call tools _run _stubs'.split(
      ' ',
    ),
    ...[
      '_locals',
      '_runtime',
      '_tools',
      'match',
      'case',
      'nan',
      '',
      'ünï',
      '日本',
      'a b',
      '../up',
      '$x',
      '0',
      '\u0000',
    ],
  ];
  const parameters = objectOf(Object.fromEntries(words.map((word) => [word, { type: 'string' }])), [
    'class',
    'self',
  ]);
  const tools = words.map((name, n) =>
    describedTool({ name: /^[\w ]/.test(name) ? name : `${name}${n}x`, parameters }),
  );
  await checkAll(tools, namesOf(tools).slice(0, 1));
  const session = await StubSession.start(tools);
  const main = join(session.stubs, 'node', 'codex-tools', 'index.d.ts');
  const ran = await session.run(process.execPath, [
    require.resolve('typescript/bin/tsc'),
    '--noEmit',
    '--strict',
    main,
  ]);
  await session.close();
  expect(ran).toMatchObject({ code: 0, stdout: '' });
});
