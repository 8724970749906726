import type { ParsedReply } from '../../../../contracts/agents/agent';
import { createDialects } from '../../../../models/dialects/dialects';

const agentJson = createDialects()('agent-json');
const parse = (text: string): ParsedReply => agentJson.parse({ text });
/** The three examples of the tools' documentation that agents are prompted with, letter by letter. */
const INSTALL = `{
    "thoughts": [
        "1. Goal: The user wants to run a Python script named 'data_analyzer.py' which I've just written. I need to execute it and return the output.",
        "2. Plan: I'll first apply the Secure Execution Protocol. The code contains 'import pandas'. I cannot assume pandas is installed. Therefore, my plan is a two-step process: First, use the 'terminal' runtime to run 'pip install pandas'. Second, if that succeeds, I will use the 'python' runtime to execute the script.",
        "3. Critique: I could try running the Python script directly, but it would likely fail with an \`ImportError\`. The two-step plan is safer and more robust, handling the dependency before it becomes a problem. The plan is sound.",
        "4. Action: I will execute the first step of my plan: install the dependency in the default session."
    ],
    "tool_name": "code_execution_tool",
    "tool_args": {
        "runtime": "terminal",
        "session": 0,
        "code": "pip install pandas"
    }
}`;

const CHECK = `{
    "thoughts": [
        "1. Goal: In the previous step, I started a Node.js web server in session 1. I need to check if it has started successfully by checking its output.",
        "2. Plan: According to the Process Lifecycle Management guide, I must use the 'output' runtime with the original session ID to check on the process without blocking.",
        "3. Critique: I should not try to run the start command again. The correct action is to query the existing process. Using 'output' is the designed method for this. The plan is correct.",
        "4. Action: I will call the tool with the 'output' runtime and session 1 to get the latest logs."
    ],
    "tool_name": "code_execution_tool",
    "tool_args": {
        "runtime": "output",
        "session": 1,
        "code": ""
    }
}`;

const CONFIRM = `{
    "thoughts": [
        "1. Goal: My previous \`code_execution_tool\` action started an installation script in session 1. The script's output is now 'All dependencies will be installed. Do you agree? [Y/n]:'. The process is waiting for my confirmation.",
        "2. Plan: To continue the installation, I must respond to the prompt. The \`input\` tool is specifically designed to send text to an active session. I will use it to send 'Y'.",
        "3. Critique: Using \`code_execution_tool\` again would be a critical error, as it would try to start a new, conflicting process. Using \`input\` is the only correct path forward. The plan is sound.",
        "4. Action: I will call the \`input\` tool, targeting session 1 with the text 'Y'."
    ],
    "tool_name": "input",
    "tool_args": {
        "session": 1,
        "keyboard": "Y"
    }
}`;

const CALL =
  '{"thoughts": ["t"], "headline": "h", "tool_name": "input", "tool_args": {"session": 1, "keyboard": "Y"}}';
const call = { callId: 'call_1', tool: 'input', args: { session: 1, keyboard: 'Y' } };

describe('the examples of the documentation', () => {
  test.each([
    [
      'installing',
      INSTALL,
      'code_execution_tool',
      { runtime: 'terminal', session: 0, code: 'pip install pandas' },
    ],
    ['checking', CHECK, 'code_execution_tool', { runtime: 'output', session: 1, code: '' }],
    ['confirming', CONFIRM, 'input', { session: 1, keyboard: 'Y' }],
  ])('%s is one call with its arguments and thoughts', (_name, text, tool, args) => {
    const reply = parse(text);
    expect(reply).toMatchObject({
      kind: 'calls',
      calls: [{ callId: 'call_1', tool, args }],
      headline: null,
      prose: '',
    });
    const numbers = reply.kind === 'calls' ? reply.thoughts.map((thought) => thought.slice(0, 7)) : [];
    expect(numbers).toEqual(['1. Goal', '2. Plan', '3. Crit', '4. Acti']);
  });

  test.each([
    ['installing', INSTALL],
    ['checking', CHECK],
    ['confirming', CONFIRM],
  ])('%s, cut off anywhere after its tool name, is never a call and never an answer', (_name, text) => {
    for (let end = text.indexOf('"tool_name":') + '"tool_name":'.length; end < text.length; end++) {
      expect(parse(text.slice(0, end)).kind).toBe('malformed');
    }
  });
});

describe('a call', () => {
  test.each([
    ['alone', CALL, ''],
    ['with blanks around it', `\n\n  ${CALL}\n`, ''],
    ['in a code fence', `\`\`\`json\n${CALL}\n\`\`\``, ''],
    ['in a code fence without a language', `\`\`\`\n${CALL}\n\`\`\``, ''],
    ['behind prose, which is kept', `I will answer.\n${CALL}`, 'I will answer.'],
    ['before prose, which is kept', `${CALL}\nThat is all.`, 'That is all.'],
    ['behind other braces', `Use {x} and {"a": 1}: ${CALL}`, 'Use {x} and {"a": 1}:'],
    ['behind an open brace', `if (x) { ${CALL}`, 'if (x) {'],
    ['behind an apostrophe', `It's time. ${CALL}`, "It's time."],
    ['behind a think block', `<think>Should I? {"tool_name": "x"}</think>${CALL}`, ''],
    ['between think blocks', `<think>a</think>${CALL}<think>b</think>`, ''],
  ])('%s', (_name, text, prose) => {
    expect(parse(text)).toEqual({ kind: 'calls', calls: [call], headline: 'h', thoughts: ['t'], prose });
  });

  test.each([
    ['braces, quotes and backslashes in its arguments', { code: 'echo "}{" \\ \' {"tool_name": "x"}\n' }],
    ['non-ASCII text in its arguments', { code: 'naïve 日本 🎉' }],
    ['nested arguments', { a: { b: [1, null, { c: '}' }] } }],
    ['no arguments', {}],
  ])('with %s keeps them', (_name, args) => {
    const calls = [{ callId: 'call_1', tool: 'x', args }];
    expect(parse(JSON.stringify({ tool_name: 'x', tool_args: args }))).toEqual({
      kind: 'calls',
      calls,
      headline: null,
      thoughts: [],
      prose: '',
    });
  });

  test.each([
    ['one text', '"a"', ['a']],
    ['a list', '["a", "b"]', ['a', 'b']],
    ['a list with other things', '["a", 1, null]', ['a']],
    ['a number', '1', []],
  ])('takes %s as thoughts', (_name, thoughts, expected) => {
    expect(parse(`{"thoughts": ${thoughts}, "tool_name": "x", "tool_args": {}}`)).toMatchObject({
      thoughts: expected,
    });
  });
});

describe('an answer', () => {
  test.each([
    ['plain text', 'The answer is 42.', 'The answer is 42.'],
    ['text with blanks around it', '\n done \n', 'done'],
    ['JSON without tool_name', '{"result": {"count": 3}}', '{"result": {"count": 3}}'],
    ['a list', '[1, 2]', '[1, 2]'],
    ['text with braces', 'Use ${HOME} or { a: 1 }.', 'Use ${HOME} or { a: 1 }.'],
    ['text that speaks of tool_name', 'The key tool_name is needed.', 'The key tool_name is needed.'],
    ['what stands behind a think block', '<think>hm</think>Yes.', 'Yes.'],
    [
      'text about a tag in inline code',
      'It skips `<think>` blocks. Done.',
      'It skips `<think>` blocks. Done.',
    ],
    ['what stands beside a call that was only thought of', `<think>${CALL}</think>No call.`, 'No call.'],
    ['tool markers of another dialect', '<tool>[{"name": "x"}]</tool>', '<tool>[{"name": "x"}]</tool>'],
  ])('is %s', (_name, text, answer) => {
    expect(parse(text)).toEqual({ kind: 'answer', answer });
  });
});

describe('what cannot be used is neither run nor an answer', () => {
  test.each([
    ['an empty reply', '', /empty/],
    ['blanks', ' \n\t', /empty/],
    ['only thoughts', '<think>I wonder</think>', /empty/],
    ['an open code fence', 'I will look.\n```json\n', /within a code fence/],
    ['an endless think block', `<think>I will ${CALL}`, /empty/],
    ['a missing brace at the end', CALL.slice(0, -1), /does not end/],
    ['an unclosed string', '{"tool_name": "x", "tool_args": {"code": "echo', /does not end/],
    ['a trailing comma', '{"tool_name": "x", "tool_args": {},}', /invalid/],
    ['a comment', '{"tool_name": "x", // why\n"tool_args": {}}', /invalid/],
    ['a raw line end in a string', '{"tool_name": "x", "tool_args": {"code": "a\nb"}}', /invalid/],
    ['a single-quoted value', `{"tool_name": 'x', "tool_args": {}}`, /invalid/],
    ['a missing brace at the beginning', '"tool_name": "x", "tool_args": {}}', /no JSON object/],
    ['a missing tool_args', '{"tool_name": "x"}', /"tool_args" must be an object, got undefined/],
    ['tool_args as a list', '{"tool_name": "x", "tool_args": []}', /"tool_args" must be an object, got \[\]/],
    [
      'tool_args as a text',
      '{"tool_name": "x", "tool_args": "{}"}',
      /"tool_args" must be an object, got "{}"/,
    ],
    ['tool_args of null', '{"tool_name": "x", "tool_args": null}', /got null/],
    ['an empty tool_name', '{"tool_name": "", "tool_args": {}}', /"tool_name" must be a name, got ""/],
    [
      'a tool_name that is no text',
      '{"tool_name": ["x"], "tool_args": {}}',
      /"tool_name" must be a name, got \["x"\]/,
    ],
    ['two calls', `${CALL}\n${CALL}`, /more than one/],
    ['two calls in fences', `\`\`\`json\n${CALL}\n\`\`\`\nand\n\`\`\`json\n${CALL}\n\`\`\``, /more than one/],
    ['a call and the beginning of another', `${CALL}\n{"tool_name": "x", "tool_`, /more than one/],
  ])('%s', (_name, text, problem) => {
    expect(parse(text)).toEqual({ kind: 'malformed', problem: expect.stringMatching(problem) as string });
  });

  test('whatever is cut out of a reply, parsing does not throw', () => {
    const text = `<think>x</think> prose {"a": "\\""} ${CALL} more`;
    for (let a = 0; a < text.length; a++) {
      for (let b = a; b < text.length; b += 7)
        expect(parse(text.slice(a, b)).kind).toMatch(/^(answer|calls|malformed)$/);
    }
  });
});

test.each([
  ['cut before its first key', '{'],
  ['cut in its thoughts', '{"thoughts": ["1. Goal'],
  ['cut in a code fence', '```json\n{"thoughts": ["1. Goal'],
  ['cut after some prose', 'I will run it: {"thoughts": ["1. Goal'],
  ['written with single quotes', "{'tool_name': 'x', 'tool_args': {}}"],
  ['written without quotes', '{tool_name: "x", tool_args: {}}'],
])('a call that is %s is malformed and never the answer', (_what, text) => {
  expect(agentJson.parse({ text }).kind).toBe('malformed');
});

test('what looks like thinking inside a call belongs to the call', () => {
  const args = { code: "echo '<think>a</think>b' '<think>'" };
  const reply = parse(
    `<think>{"tool_name":"no"}</think>${JSON.stringify({ tool_name: 'x', tool_args: args })}`,
  );
  expect(reply).toMatchObject({ kind: 'calls', calls: [{ tool: 'x', args }] });
});

test.each(['An answer.', CALL])('a reply that was cut off at its length limit is malformed: %s', (text) => {
  const problem = expect.stringContaining('length limit') as string;
  expect(agentJson.parse({ text, isCut: true })).toEqual({ kind: 'malformed', problem });
});

test('JSON in an answer, with a call’s key deeper inside, is a part of the answer', () => {
  const text = 'The log says {"step": {"tool_name": "x"}} and {"n": 1}.';
  expect(agentJson.parse({ text })).toEqual({ kind: 'answer', answer: text });
});

describe('the tool "response" of Agent Zero', () => {
  const reply = (args: object): string =>
    JSON.stringify({ thoughts: ['Done.'], tool_name: 'response', tool_args: args });

  test('with a text is the answer', () => {
    expect(parse(reply({ text: 'There are 3 files.' }))).toEqual({
      kind: 'answer',
      answer: 'There are 3 files.',
    });
  });

  test.each([{}, { text: 3 }, { text: 'a', more: 1 }])('with %j is an ordinary call', (args) => {
    expect(parse(reply(args))).toMatchObject({ kind: 'calls', calls: [{ tool: 'response', args }] });
  });
});
