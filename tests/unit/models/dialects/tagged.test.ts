import type { ParsedReply } from '../../../../contracts/agents/agent';
import { createDialects } from '../../../../models/dialects/dialects';

const like = (text: RegExp): string => expect.stringMatching(text) as string;
const tagged = createDialects()('tagged');
const parse = (text: string): ParsedReply => tagged.parse({ text });
const block = (json: string): string => `<tool>${json}</tool>`;
const item = (id: string, args = '{}'): string =>
  `{"call_id": "${id}", "tool_name": "x", "arguments": ${args}}`;
const ONE = block(`[${item('a')}]`);
const A = { callId: 'a', tool: 'x', args: {}, needs: [] };
const calls = (list: object[], prose = ''): object => ({
  kind: 'calls',
  calls: list,
  headline: null,
  thoughts: [],
  prose,
});

describe('a block', () => {
  test.each([
    ['alone', ONE, ''],
    ['of one call without a list', block(item('a')), ''],
    ['with blanks around and in it', `\n ${block(`\n [ ${item('a')} ] \n`)}\n`, ''],
    ['between prose, which is kept', `Before.\n${ONE}\nBehind.`, 'Before.\n\nBehind.'],
    ['in a code fence', `\`\`\`\n${ONE}\n\`\`\``, ''],
    ['in a code fence with a language', `Look:\n\`\`\`json\n${ONE}\n\`\`\`\nSo.`, 'Look:\n\nSo.'],
    ['behind a code fence, which is kept', `\`\`\`py\nx\n\`\`\`\n${ONE}`, '```py\nx\n```'],
    ['with a code fence in it', block(`\n\`\`\`json\n[${item('a')}]\n\`\`\`\n`), ''],
    ['behind thinking', `<think>No: ${block('[{]')}</think>${ONE}`, ''],
    ['behind thinking with a block', `<think>${block(`[${item('b')}]`)}</think>Now.${ONE}`, 'Now.'],
    ['behind thinking whose beginning is missing', `${block(`[${item('b')}]`)} or not </think>${ONE}`, ''],
    ['before thinking that never ends', `${ONE}<think>${block('[')}`, ''],
    ['with thinking in it', block(`[<think>a " quote</think>${item('a')}]`), ''],
    ['beside a tag as inline code', `A \`<tool>\` block: ${ONE}`, 'A `<tool>` block:'],
    ['behind prose that ends like a tag', `a <${ONE}`, 'a <'],
    ['with keys that mean nothing', block(`[{"type": "call", ${item('a').slice(1)}]`), ''],
  ])('%s', (_name, text, prose) => expect(parse(text)).toEqual(calls([A], prose)));

  test.each([
    ['tags', '</tool> <tool>'],
    ['thinking', '<think>a</think>'],
    ['thinking that never ends', '<think> " \\'],
    ['brackets, quotes and fences', ']}"\\```\n'],
    ['text of all kinds', 'naïve 日本 🎉 \u0000'],
  ])('keeps %s in its strings', (_name, text) => {
    const json = JSON.stringify([{ call_id: 'a', tool_name: 'x', arguments: { text, list: [text] } }]);
    expect(parse(`Hm.\n${block(json)}`)).toEqual(calls([{ ...A, args: { text, list: [text] } }], 'Hm.'));
  });

  test('names calls without an id by their position, avoiding names that are taken', () => {
    const nameless = '{"tool_name": "x", "arguments": {}}';
    const empty = '{"call_id": "", "tool_name": "x", "arguments": {}}';
    const reply = parse(
      block(`[${nameless}, ${item('call_3')}, ${empty}, ${item('b', '{"of": "$call_1"}')}]`),
    );
    expect(reply).toMatchObject({
      kind: 'calls',
      calls: [{ callId: 'call_1' }, { callId: 'call_3' }, { callId: 'call_3_' }, { needs: ['call_1'] }],
    });
  });

  test('says what each call needs, and leaves the arguments as they are', () => {
    const args = { ids: ['$a', { b: '$a.list.0' }], home: '$HOME/x', price: '$$a' };
    expect(parse(block(`[${item('a')}, ${item('b', JSON.stringify(args))}]`))).toEqual(
      calls([A, { callId: 'b', tool: 'x', args, needs: ['a'] }]),
    );
  });
});

describe('an answer', () => {
  test.each([
    ['plain text', ' It is 42.\n', 'It is 42.'],
    ['text behind thinking', '<think>hm</think>Yes.', 'Yes.'],
    ['text behind thinking whose beginning is missing', 'hm, hm</think>\nYes.', 'Yes.'],
    ['text beside a call that was only thought of', `<think>${ONE}</think>No.`, 'No.'],
    [
      'text that speaks of tags',
      'Write `<tool>` and `</tool>`, or `<think>`.',
      'Write `<tool>` and `</tool>`, or `<think>`.',
    ],
    ['JSON', '{"name": "x"}', '{"name": "x"}'],
    ['text with JSON', 'Keys such as "tool_name": are text.', 'Keys such as "tool_name": are text.'],
    ['text with code', 'So:\n```py\nx\n```', 'So:\n```py\nx\n```'],
    ['text with angle brackets', 'a <b> 1 < 2 <toolbox>', 'a <b> 1 < 2 <toolbox>'],
  ])('is %s', (_name, text, answer) => expect(parse(text)).toEqual({ kind: 'answer', answer }));
});

describe('what cannot be used is neither run nor an answer', () => {
  test.each([
    ['nothing', ' \n', /empty/],
    ['thinking alone', `<think>${ONE}</think>`, /empty/],
    ['thinking that never ends', `<think>I will ${ONE}`, /empty/],
    ['a block without an end', `Well. <tool>[${item('a')}]`, /<\/tool> is missing/],
    ['a block that is cut off', '<tool>[{"call_id": "a', /does not end: the reply was cut off/],
    ['a string without an end', block('[{"call_id": "a]'), /a string in its JSON is not closed/],
    ['two blocks', `${ONE} and ${ONE}`, /2 blocks, allowed one: put all calls/],
    ['a block and the beginning of another', `${ONE}<tool>[`, /does not end/],
    ['an end without a beginning', `[${item('a')}]</tool>`, /<\/tool> without <tool>/],
    ['two ends', `${ONE}</tool>`, /<\/tool> without <tool>/],
    ['calls without tags', `[${item('a')}]`, /without the tags/],
    ['calls without tags in a fence', `\`\`\`json\n[${item('a')}]\n\`\`\``, /without the tags/],
    ['a call of another dialect', '{"tool_name": "x", "tool_args": {}}', /without the tags/],
    ['an empty block', block('  '), /The block is empty/],
    ['an empty list', block('[]'), /The list in the block is empty/],
    ['no JSON', block('call x'), /The JSON is invalid: Unexpected token/],
    ['a comma too many', block(`[${item('a')},]`), /The JSON is invalid/],
    ['a raw line end in a string', block(`[${item('a', '{"code": "a\nb"}')}]`), /line end is written \\n/],
    ['JSON that is nested too deep', block(`${'['.repeat(101)}${']'.repeat(101)}`), /allowed 100 levels/],
    ['a text in the list', block('["x"]'), /Call 1: got "x", allowed an object/],
    ['a number', block('5'), /Call 1: got 5/],
    [
      'a missing tool_name',
      block('[{"name": "x", "arguments": {}}]'),
      /"tool_name" must be a name, got undefined; its keys are "name", "arguments"/,
    ],
    ['an empty tool_name', ONE.replace('"x"', '""'), /"tool_name" must be a name, got ""/],
    [
      'missing arguments',
      block('[{"tool_name": "x", "args": {}}]'),
      /"arguments" must be an object, got undefined; its keys are "tool_name", "args"/,
    ],
    ['arguments as a list', block(`[${item('a', '[]')}]`), /got \[\]/],
    ['arguments as a text', block(`[${item('a', '"{}"')}]`), /got "{}"/],
    [
      'an id that is a number',
      block('[{"call_id": 1, "tool_name": "x", "arguments": {}}]'),
      /"call_id" is 1, allowed/,
    ],
    ['an id with a dot', block(`[${item('a.b')}]`), /"call_id" is "a\.b", allowed/],
    [
      'the same id twice',
      block(`[${item('a')}, ${item('b')}, ${item('a')}]`),
      /Two calls have the "call_id" "a"/,
    ],
    ['a fault in the second call', block(`[${item('a')}, {}]`), /Call 2: "tool_name".*Call 2: "arguments"/],
    ['a reference that cannot be', block(`[${item('a', '{"dir": "$HOME"}')}]`), /"\$\$HOME"/],
    ['half a tag', 'I will look. <too', /within <tool>: it was cut off/],
    ['half a tag behind a block', `${ONE}\n<to`, /cut off/],
    ['an open code fence', 'I will look.\n```json\n', /within a code fence/],
    ['a tag in prose', `The <tool> tag. ${ONE}`, /invalid.*between backticks/],
  ])('%s', (_name, text, problem) => {
    expect(parse(text)).toEqual({ kind: 'malformed', problem: like(problem) });
  });

  test.each(['An answer', ONE, '<tool>['])('a reply that was cut off at its length limit: %s', (text) => {
    expect(tagged.parse({ text, isCut: true })).toMatchObject({
      kind: 'malformed',
      problem: like(/length limit/),
    });
  });
});

describe('custom tags', () => {
  const own = createDialects({ tags: { start: '[TOOL_CALLS]', end: '[/TOOL_CALLS]' } })('tagged');

  test('surround calls, and appear in the prompt and in error messages', () => {
    expect(own.parse({ text: `Go. [TOOL_CALLS][${item('a')}][/TOOL_CALLS]` })).toEqual(calls([A], 'Go.'));
    expect(own.parse({ text: '[TOOL_CALLS][' })).toMatchObject({
      problem: like(/\[\/TOOL_CALLS\] is missing/),
    });
    expect(own.parse({ text: ONE })).toEqual({ kind: 'answer', answer: ONE });
    expect(own.instructions([])).toContain('[TOOL_CALLS]\n[\n  {\n    "call_id": "call_1"');
    expect(own.instructions([])).not.toContain('<tool>');
  });

  test.each([
    ['<t', '</tool>', /tool_tag_start: got "<t", allowed 3 to 64/],
    ['call', '</tool>', /tool_tag_start: got "call"/],
    ['<a tool>', '</tool>', /no blanks/],
    ['<tool>', '<tool>', /cannot be told from <tool>/],
    ['<think>', '</tool>', /cannot be told from <think>/],
    ['<<<', '>>>', /tool_tag_start.*tool_tag_end/],
  ])('are refused if they could not be told from text: %s %s', (start, end, text) => {
    expect(() => createDialects({ tags: { start, end } })).toThrow(text);
  });
});
