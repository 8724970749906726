// Which function a tool becomes.
import { functionName, functionNameIn, parameterNames } from '../../../../tools/stubs/function-names';
import { stubFiles } from '../../../../tools/stubs/stub-files';
import { describedTool, StubSession } from '../../../helpers/tools/stub-session';

test.each([
  ['read_file', 'read_file', 'read_file', 'read_file'],
  ['My-Tool.v2', 'my_tool_v2', 'my_tool_v2', 'my_tool_v2'],
  ['2fast', '_2fast', '_2fast', '_2fast'],
  ['Class', 'class', 'class_', 'class_'],
  ['delete', 'delete', 'delete', 'delete_'],
  ['lambda', 'lambda', 'lambda_', 'lambda'],
  ['tools', 'tools', 'tools_', 'tools_'],
  ['\u{1f600}', '_', '_', '_'],
])('%s is %s, in Python %s, in JavaScript %s', (tool, plain, python, javascript) => {
  expect([functionName(tool), functionNameIn('python', tool), functionNameIn('javascript', tool)]).toEqual([
    plain,
    python,
    javascript,
  ]);
});

test.each([
  ['my-tool', 'my_tool'],
  ['My.Tool', 'my tool'],
  ['class', 'class_'],
  ['delete', 'delete_'],
])('%s beside %s is refused: a function never stands for two tools', (one, other) => {
  const tools = [describedTool({ name: one }), describedTool({ name: other })];
  expect(() => stubFiles(tools, { node: '/node' })).toThrow(
    expect.objectContaining({ code: 'tool_name_taken', facts: { got: other, before: one } }) as Error,
  );
});

test('parameters keep their names where they can, and no two are the same', () => {
  expect([...parameterNames(['a-b', 'a_b', 'a.b', 'def', 'def_', ''])]).toEqual([
    ['a-b', 'a_b_'],
    ['a_b', 'a_b'],
    ['a.b', 'a_b__'],
    ['def', 'def__'],
    ['def_', 'def_'],
    ['', '_'],
  ]);
});

test('no name in the Python module can be taken by a tool', async () => {
  const session = await StubSession.start([]);
  const own = (await session.pythonJson(
    'import json, codex_tools\nprint(json.dumps(list(vars(codex_tools))))',
  )) as string[];
  await session.close();
  expect(own.length).toBeGreaterThan(10);
  expect(own.filter((name) => functionNameIn('python', name) === name)).toEqual([]);
});

test('the same tools yield the same files, the manifest last', () => {
  const tools = [describedTool({ name: 'a' })];
  const files = stubFiles(tools, { node: "/it's/node" });
  expect(stubFiles(tools, { node: "/it's/node" })).toEqual(files);
  expect(files.at(-1)).toEqual({
    path: 'tools.json',
    content: `${JSON.stringify([
      {
        name: 'a',
        function: 'a',
        description: 'Describes a.',
        parameters: { type: 'object', properties: {} },
        result: null,
        effects: 'read_only',
      },
    ])}\n`,
  });
  expect(files.filter(({ executable }) => executable)).toEqual([
    expect.objectContaining({
      path: 'bin/tool',
      content: expect.stringContaining(`exec '/it'\\''s/node' "$main" "$@"\n`) as string,
    }),
  ]);
});
