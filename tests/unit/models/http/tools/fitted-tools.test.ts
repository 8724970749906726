// Tools of others, as the vendors' function calling takes them. The cases are our own, after public reports.
import type { JsonSchema, ToolDescription } from '../../../../../contracts/tools/tools';
import { askWithout, type RefusedTools } from '../../../../../models/http/tools/refused-tools';
import { fitTools, type FittedTools } from '../../../../../models/http/tools/fitted-tools';
import type { ChatMessage } from '../../../../../models/provider';

const text = { type: 'string' };
const toolOf = (properties: object, more: Partial<ToolDescription> = {}): ToolDescription => ({
  name: 'odd',
  description: 'Odd.',
  parameters: { type: 'object', properties },
  result: null,
  effects: 'once',
  runsOn: 'anywhere',
  ...more,
});
const fit = (
  tools: ToolDescription[],
  wireApi: 'chat' | 'anthropic' = 'anthropic',
  messages: ChatMessage[] = [],
): FittedTools => fitTools({ tools, messages, wireApi, refused: new Map() });
const shown = (properties: object): unknown => fit([toolOf(properties)]).tools[0]?.parameters.properties;

describe('names of arguments', () => {
  // anthropics/claude-code#34771
  const tool = toolOf({
    $filter: text,
    'user name': text,
    user_name: text,
    ['k'.repeat(70)]: text,
    list: { type: 'array', items: { $ref: '#/$defs/It%em' } },
    plain: { type: 'object', additionalProperties: true },
  });
  const odd = {
    ...tool,
    parameters: {
      ...tool.parameters,
      required: ['$filter'],
      $defs: { 'It%em': { type: 'object', properties: { 'a>': text, next: { $ref: '#/$defs/It%em' } } } },
    },
  };

  test('are shown to the model as every vendor takes them, at any depth', () => {
    const [{ parameters } = tool] = fit([odd]).tools;
    const keys = Object.keys(parameters.properties as object);
    expect(keys).toEqual(['_filter', 'user_name_2', 'user_name', 'k'.repeat(64), 'list', 'plain']);
    expect(parameters.required).toEqual(['_filter']);
    expect(JSON.stringify(parameters.$defs)).toContain('"a_"');
    expect(JSON.stringify(parameters.properties)).toContain('The argument \\"$filter\\".');
  });

  test('come back to the tool as its own, and only where its schema has them', () => {
    const fitted = fit([odd]);
    const args = {
      _filter: 'a',
      user_name_2: 'b',
      list: [{ a_: 1, next: { a_: 2 } }],
      plain: { _filter: 3, a_: 4 },
    };
    const own = {
      $filter: 'a',
      'user name': 'b',
      list: [{ 'a>': 1, next: { 'a>': 2 } }],
      plain: { _filter: 3, a_: 4 },
    };
    const call = (all: object): { id: string; tool: string; args: string } => ({
      id: 'c',
      tool: 'odd',
      args: JSON.stringify(all),
    });
    expect(fitted.taken([call(args)])).toEqual([call(own)]);
    expect(fitted.shown([{ role: 'assistant', text: '', calls: [call(own)] }])).toEqual([
      { role: 'assistant', text: '', calls: [call(args)] },
    ]);
  });

  test('in arguments that are no JSON are left to the dialect, which says so', () => {
    const call = { id: 'c', tool: 'odd', args: '{"_filter":' };
    expect(fit([odd]).taken([call])).toEqual([call]);
  });
});

describe('a schema is told in the current draft', () => {
  test.each<[string, object, object]>([
    // Dokploy/mcp#74
    [
      'with a limit that is exclusive by a flag',
      { type: 'integer', minimum: 0, exclusiveMinimum: true },
      { type: 'integer', exclusiveMinimum: 0 },
    ],
    [
      'with a flag that is off',
      { type: 'integer', maximum: 9, exclusiveMaximum: false },
      { type: 'integer', maximum: 9 },
    ],
    [
      'with a tuple of draft 7',
      { type: 'array', items: [text, text] },
      { type: 'array', prefixItems: [text, text], items: {} },
    ],
    // blurrah/mcp-graphql#14
    ['with a type that is none', { type: 'any', description: 'x' }, { description: 'x' }],
    // labring/FastGPT#6451
    ['with the types of another language', { type: 'float' }, { type: 'number' }],
    // can1357/oh-my-pi#2784, cline/cline#14019
    [
      'with an expression that looks ahead',
      { type: 'string', pattern: '^(?!null$)' },
      { type: 'string', description: 'It matches ^(?!null$)' },
    ],
    [
      'with an expression that is none',
      { type: 'string', pattern: '(?i)a[' },
      { type: 'string', description: 'It matches (?i)a[' },
    ],
    // TencentCloudBase/CloudBase-AI-Toolkit#626
    ['with an alternative that is never', { anyOf: [{ not: {} }, text] }, text],
    [
      'with more properties of any kind',
      { type: 'object', properties: {}, additionalProperties: {} },
      { type: 'object', properties: {} },
    ],
    // mapbox/mcp-server#22
    [
      'with another draft’s name',
      { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'x', ...text },
      text,
    ],
    [
      'with a list of values that is none, or empty',
      { anyOf: [{ enum: 'a' }, { enum: [] }] },
      { anyOf: [{}, {}] },
    ],
    ['with a value twice', { enum: ['a', 'a', 'b'] }, { enum: ['a', 'b'] }],
    ['with a length that is a text', { type: 'string', maxLength: '9', minLength: -1 }, text],
    ['with a choice of nothing', { type: 'string', anyOf: [], oneOf: null }, text],
    ['with a reference to nothing', { $ref: '#/definitions/Gone', description: 'x' }, { description: 'x' }],
    ['with texts that are none', { ...text, description: null, title: 7 }, text],
  ])('%s', (_what, given, told) => {
    expect(shown({ a: given })).toEqual({ a: told });
  });

  // smallmain/vscode-unify-chat-provider#162
  test('with properties that are no schemas', () => {
    expect(shown({ a: text, type: 'object', b: null })).toEqual({ a: text, type: {}, b: {} });
  });

  test('with properties that are required by a flag of their own', () => {
    const [tool] = fit([toolOf({ a: { ...text, required: true }, b: { ...text, required: false } })]).tools;
    expect(tool?.parameters).toEqual({ type: 'object', properties: { a: text, b: text }, required: ['a'] });
  });

  test('but with nothing changed that is right', () => {
    const parameters: JsonSchema = {
      type: 'object',
      properties: { a: { type: ['string', 'null'], pattern: '^a+$', default: null }, b: { enum: [null, 1] } },
      required: ['a'],
      additionalProperties: false,
    };
    expect(JSON.stringify(fit([toolOf({}, { parameters })]).tools[0]?.parameters)).toBe(
      JSON.stringify(parameters),
    );
  });
});

// microsoft/genaiscript#1381
test('a description that is too long for OpenAI goes on in that of the parameters, and is whole for Anthropic', () => {
  const description = 'word '.repeat(400);
  const [chat] = fit([toolOf({}, { description })], 'chat').tools;
  expect(chat?.description.length).toBeLessThanOrEqual(1_024);
  expect(chat?.description).toMatch(/goes on in the description of the parameters\)$/);
  const [head = ''] = chat?.description.split(' […]') ?? [];
  expect(head + String(chat?.parameters.description).slice('[…]'.length)).toBe(description);
  expect(fit([toolOf({}, { description })]).tools[0]?.description).toBe(description);
});

// obot-platform/mcp-catalog#516
test('of more than 128 tools OpenAI gets those of no server, those that were used, and the first; the model is told', () => {
  const many = Array.from({ length: 150 }, (_, n) => toolOf({}, { name: `mcp__odd__t${n}` }));
  const all = [...many, toolOf({}, { name: 'shell' })];
  const used: ChatMessage = {
    role: 'assistant',
    text: '',
    calls: [{ id: 'c', tool: 'mcp__odd__t149', args: '{}' }],
  };
  const { tools, remark } = fit(all, 'chat', [used]);
  const names = tools.map(({ name }) => name);
  expect(names).toHaveLength(128);
  expect(names.slice(-2)).toEqual(['mcp__odd__t149', 'shell']);
  expect(remark).toMatch(
    /cannot be called as functions here.*\n- mcp__odd__t126, .*t148: the protocol takes 128 tools, got 151$/,
  );
  expect(fit(all).remark).toBe('');
});

describe('a tool that the server does not take', () => {
  const tools = ['good', 'odd', 'odd_too'].map((name) =>
    toolOf({}, { name, parameters: { type: 'object', title: name } }),
  );
  const refusal = (message: string): Error => Object.assign(new Error(message), { status: 400 });
  const askWith = (
    says: (names: string[]) => string | undefined,
    refused: RefusedTools = new Map(),
  ): Promise<string[]> =>
    askWithout({
      tools,
      refused,
      redacted: (words) => words,
      ask: async (without, offering) => {
        const offered = tools.filter(({ parameters }) => !without.has(parameters));
        offering(offered);
        const names = offered.map(({ name }) => name);
        const told = says(names);
        if (told !== undefined) throw refusal(told);
        return names;
      },
    });

  test.each([
    ['tools.1.custom.input_schema: JSON schema is invalid'],
    ["400 Invalid schema for function 'odd': no"],
    ['tools[0].function_declarations[1].parameters: cannot find field'],
    ["Invalid 'tools[1].function.name'"],
  ])('and that it names like this, %p, is left out, then and later', async (words) => {
    const refused: RefusedTools = new Map();
    const asked: string[][] = [];
    const says = (names: string[]): string | undefined => {
      asked.push(names);
      return names.includes('odd') ? words : undefined;
    };
    expect(await askWith(says, refused)).toEqual(['good', 'odd_too']);
    expect(await askWith(says, refused)).toEqual(['good', 'odd_too']);
    expect(asked).toHaveLength(3);
    const { remark } = fitTools({ tools, messages: [], wireApi: 'chat', refused });
    expect(remark).toContain(`- odd: the model's server does not take it: ${words}`);
  });

  test.each(['messages.3.content: tool odd', 'tools are not supported', 'the context is too long'])(
    'is not looked for where the refusal, %p, is about something else',
    async (words) => {
      let asked = 0;
      await expect(askWith(() => (asked++, words))).rejects.toThrow(words);
      expect(asked).toBe(1);
    },
  );

  test('is offered again later if the request was refused without it, too', async () => {
    const refused: RefusedTools = new Map();
    const says = (names: string[]): string => (names.includes('odd') ? 'function odd is bad' : 'no quota');
    await expect(askWith(says, refused)).rejects.toThrow('no quota');
    expect(refused.size).toBe(0);
  });
});
