// Calls in the syntax of other model families, in every dialect. aaif-goose/goose#7776 and others.
import { DIALECTS } from '../../../../contracts/models/dialect-names';
import { createDialects } from '../../../../models/dialects/dialects';
import { parsedReply } from '../../../../models/parsed-reply';

const findDialect = createDialects();
const tools = [{ name: 'list_dir' }, { name: 'read_file' }];
const CALLS = [
  'I look.\n<tool_call>\n{"name": "list_dir", "arguments": {}}\n</tool_call>',
  '<tool_call>list_dir\n<arg_key>path</arg_key>\n<arg_value>.</arg_value>\n</tool_call>',
  '<tool_call>\n<function=list_dir>\n<parameter=path>\n.\n</parameter>\n</function>\n</tool_call>',
  '<minimax:tool_call>\n<invoke name="list_dir">\n</invoke>\n</minimax:tool_call>',
  '[TOOL_CALLS][{"name": "list_dir", "arguments": {}}]',
  '[TOOL_CALLS]list_dir[ARGS]{"path": "."}',
  '<function_calls>\n<invoke name="list_dir">\n</invoke>\n</function_calls>',
  '<function=list_dir>{"path": "."}</function>',
  '<|channel|>commentary to=functions.list_dir <|constrain|>json<|message|>{}<|call|>',
  '<|start|>assistant<|channel|>commentary to=functions.list_dir<|message|>{}',
  '<|tool_calls_section_begin|><|tool_call_begin|>functions.list_dir:0<|tool_call_argument_begin|>{}',
  '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>list_dir',
  '<|python_tag|>{"name": "list_dir", "parameters": {}}',
  'Thought: I must look.\nAction: list_dir\nAction Input: {}',
  'I look.\n**Action:** `list_dir`\n',
  '<read_file>\n<path>a.txt</path>\n</read_file>',
  '{"name": "list_dir", "parameters": {}}',
  '```json\n{"name": "list_dir", "arguments": {}}\n```',
  '[list_dir(path=".")]',
  '```tool_code\nprint(default_api.list_dir())\n```',
];
const TEXTS = [
  'A model of that family writes `<tool_call>{"name": "list_dir"}</tool_call>` into its text.',
  'An example:\n\n```xml\n<tool_call>\n{"name": "list_dir", "arguments": {}}\n</tool_call>\n```\n',
  'The <tool_call> tag opens a call, and `[TOOL_CALLS]` does the same for Mistral.',
  'Action: restart the server, then look at the log.',
  'Action items:\n- list_dir is slow',
  '{"name": "Ada", "arguments": {}}',
  '{"name": "list_dir", "slow": true}',
  'It calls list_dir(path=".") twice.',
  'Use <b>bold</b>, <invoke> and a | b |> c.',
];

describe.each(DIALECTS)('in the dialect %s', (name) => {
  const dialect = findDialect(name);
  const parse = (text: string, isJson = false) => parsedReply({ text }, dialect, { tools, isJson });

  test.each(CALLS)('%j is no answer, and the model is told the right form', (text) => {
    const parsed = parse(text);
    expect(parsed.kind).toBe('malformed');
    expect(parsed).toHaveProperty(
      'problem',
      expect.stringMatching(/function calling of the API|Write a call as/),
    );
  });

  test.each(TEXTS)('%j stays text', (text) => {
    expect(parse(text)).toEqual({ kind: 'answer', answer: text.trim() });
  });

  test('an answer that is to be JSON may look like a call', () => {
    const json = '{"name": "list_dir", "parameters": {}}';
    expect(parse(json, true)).toEqual({ kind: 'answer', answer: json });
  });
});

test('half a pair in the arguments of a call is replaced before the call runs', () => {
  const calls = [{ id: 'a', tool: 'list_dir', args: '{"path":"x \\ud99c"}' }];
  expect(parsedReply({ text: '', calls }, findDialect('native'), { tools, isJson: false })).toMatchObject({
    calls: [{ args: { path: 'x \ufffd' } }],
  });
});
