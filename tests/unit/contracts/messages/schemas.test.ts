import type * as z from 'zod/mini';
import { agentInputSchema, sendSchema, stopSchema } from '../../../../contracts/schemas/agent';
import { parseWith } from '../../../../contracts/schemas/parse';
import {
  execSchema,
  inputSchema,
  outputSchema,
  resetSchema,
  sessionInputSchema,
  utf8Length,
} from '../../../../contracts/schemas/session';
import { carryBlobSchema } from '../../../../contracts/schemas/tools';

const SHA = 'a'.repeat(64);

/** JSON there and back, as the default payload converter does it. */
const roundTrip = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const good: [string, z.ZodMiniType, unknown][] = [
  ['exec', execSchema, { code: 'ls' }],
  [
    'exec with all',
    execSchema,
    {
      id: 'x/y z',
      runtime: 'python',
      code: '1\n',
      yield: { maxMs: 0, firstOutputMs: 1, betweenOutputMs: 2, promptMs: 3 },
      reader: 'me',
    },
  ],
  ['exec of the longest code', execSchema, { code: 'é'.repeat(131_072) }],
  ['input', inputSchema, { keyboard: '' }],
  [
    'input with all',
    inputSchema,
    { id: 'i', keyboard: 'up', keys: ['up', 'ctrl-c', 'ctrl-\\'], yield: {}, reader: 'r' },
  ],
  ['output', outputSchema, {}],
  ['output with all', outputSchema, { from: 0, maxBytes: 4, wait: 'pattern:^a+$', waitMs: 0, reader: 'r' }],
  ['reset', resetSchema, { id: 'i', reason: '' }],
  [
    'session',
    sessionInputSchema,
    { agent: 'a', host: 'h', session: 0, cwd: '/', idleMs: 1, yield: { maxMs: 1 } },
  ],
  [
    'agent',
    agentInputSchema,
    {
      model: 'scripted:a:b.yaml',
      task: 'do',
      mode: 'task',
      limits: { steps: 1, wallMs: 5, formatRepairs: 1, toolCalls: 1 },
      keep: false,
    },
  ],
  ['send', sendSchema, { message: 'hello' }],
  ['stop', stopSchema, {}],
  ['part of a value of a host', carryBlobSchema, { at: 'host.pi', sha256: SHA, from: 0 }],
  ['part of a value of agents with their own queue', carryBlobSchema, { at: 'lab', sha256: SHA, from: 1 }],
];

test.each(good)('%s: a good value passes unchanged and is plain JSON', (_name, schema, value) => {
  expect(parseWith(schema, 'It', value)).toEqual(value);
  expect(roundTrip(parseWith(schema, 'It', roundTrip(value)))).toEqual(value);
});

test.each([
  ['output', outputSchema],
  ['reset', resetSchema],
  ['stop', stopSchema],
  ['session', sessionInputSchema],
] as [string, z.ZodMiniType][])('%s: nothing at all is the empty value', (_name, schema) => {
  expect(parseWith(schema, 'It', undefined)).toEqual({});
  expect(parseWith(schema, 'It', null)).toEqual({});
});

const bad: [string, z.ZodMiniType, unknown, RegExp][] = [
  [
    'part of a value of no queue',
    carryBlobSchema,
    { at: 'host.', sha256: SHA, from: 0 },
    /"\/at" must match/,
  ],
  ['exec without code', execSchema, {}, /"\/code" must be a string/],
  ['exec of empty code', execSchema, { code: ' \n' }, /"\/code" must hold at least one command/],
  [
    'exec of code with NUL',
    execSchema,
    { code: 'a\0b' },
    /"\/code" got a NUL character at position 1, allowed text without NUL/,
  ],
  [
    'exec of too much code',
    execSchema,
    { code: 'x'.repeat(262_145) },
    /"\/code" got 262145 bytes, allowed 262144/,
  ],
  [
    'exec of too much code in bytes',
    execSchema,
    { code: 'é'.repeat(131_073) },
    /got 262146 bytes, allowed 262144/,
  ],
  [
    'exec of another runtime',
    execSchema,
    { code: 'a', runtime: 'ruby' },
    /"\/runtime" must be one of terminal, python, nodejs/,
  ],
  ['exec with reset as text', execSchema, { code: 'a', reset: 'false' }, /"\/reset" must be a boolean/],
  [
    'exec with a yield as text',
    execSchema,
    { code: 'a', yield: { maxMs: '5' } },
    /"\/yield\/maxMs" got "5", allowed a whole number from 0 to/,
  ],
  [
    'exec with a yield below zero',
    execSchema,
    { code: 'a', yield: { maxMs: -1 } },
    /"\/yield\/maxMs" got -1, allowed a whole number/,
  ],
  [
    'exec with half a millisecond',
    execSchema,
    { code: 'a', yield: { promptMs: 0.5 } },
    /"\/yield\/promptMs" got 0\.5/,
  ],
  [
    'exec with an unknown yield',
    execSchema,
    { code: 'a', yield: { max: 5 } },
    /"\/yield" has unknown keys max/,
  ],
  ['exec with an empty id', execSchema, { code: 'a', id: '' }, /"\/id" must have at least 1 character/],
  [
    'exec with a long id',
    execSchema,
    { code: 'a', id: 'x'.repeat(201) },
    /"\/id" must have at most 200 characters/,
  ],
  [
    'exec with a reader that is no id',
    execSchema,
    { code: 'a', reader: '../x' },
    /"\/reader" must match .*a-z0-9/,
  ],
  ['exec as a text', execSchema, 'ls', /must be an object/],
  [
    'input of a key that is none',
    inputSchema,
    { keys: ['ctrl-y'] },
    /"\/keys\/0" must be one of enter, .*ctrl-c/,
  ],
  ['input of keys as a text', inputSchema, { keys: 'up' }, /"\/keys" must be an array/],
  ['input with NUL', inputSchema, { keyboard: 'ab\0' }, /"\/keyboard" got a NUL character at position 2/],
  ['input that is no text', inputSchema, { keyboard: 5 }, /"\/keyboard" must be a string/],
  ['output from below zero', outputSchema, { from: -1 }, /"\/from" got -1, allowed a whole number from 0/],
  [
    'output of too small a page',
    outputSchema,
    { maxBytes: 3 },
    /"\/maxBytes" got 3, allowed a whole number from 4 to 131072/,
  ],
  ['output of too large a page', outputSchema, { maxBytes: 131_073 }, /"\/maxBytes" got 131073, allowed/],
  [
    'output that waits for what is none',
    outputSchema,
    { wait: 'done' },
    /"\/wait" got "done", allowed exit, output, idle, needs_input or pattern:RE/,
  ],
  [
    'output that waits for a bad pattern',
    outputSchema,
    { wait: 'pattern:(' },
    /"\/wait" got "pattern:\(", allowed .*with a valid RE/,
  ],
  ['output that waits for an empty pattern', outputSchema, { wait: 'pattern:' }, /"\/wait" got "pattern:"/],
  ['reset with a reason that is no text', resetSchema, { reason: 5 }, /"\/reason" must be a string/],
  [
    'a session as text',
    sessionInputSchema,
    { session: '0' },
    /"\/session" got "0", allowed a whole number from 0 to 999999/,
  ],
  ['a session below zero', sessionInputSchema, { session: -1 }, /"\/session" got -1/],
  ['a session of a bad agent', sessionInputSchema, { agent: 'a/b' }, /"\/agent" must match/],
  ['a session in an empty folder', sessionInputSchema, { cwd: '' }, /"\/cwd" must have at least 1 character/],
  ['an agent without a model', agentInputSchema, {}, /"\/model" must be a string/],
  [
    'an agent with a model without provider',
    agentInputSchema,
    { model: 'gpt' },
    /"\/model" got "gpt", allowed provider:name/,
  ],
  [
    'an agent of another mode',
    agentInputSchema,
    { model: 'a:b', mode: 'chat' },
    /"\/mode" must be one of task, conversation/,
  ],
  [
    'an agent with no steps',
    agentInputSchema,
    { model: 'a:b', limits: { steps: 0 } },
    /"\/limits\/steps" must be at least 1/,
  ],
  [
    'an agent with keep as text',
    agentInputSchema,
    { model: 'a:b', keep: 'false' },
    /"\/keep" must be a boolean/,
  ],
  ['an empty message', sendSchema, { message: '  ' }, /"\/message" got an empty text, allowed/],
];

test.each(bad)('%s is refused, with its place and what is allowed', (_name, schema, value, message) => {
  let thrown: unknown;
  try {
    parseWith(schema, 'The message', value);
  } catch (err) {
    thrown = err;
  }
  expect(thrown).toMatchObject({ code: 'invalid_input', message: expect.stringMatching(message) as string });
  expect((thrown as Error).message).toMatch(/^The message is invalid: got .+, allowed .+ Next: \S/s);
  expect((thrown as Error).message.length).toBeLessThan(1_500);
});

test.each(['"/code" must hold at least one command', '"/runtime" must be one of', 'has unknown keys y'])(
  'each of several faults is reported: %s',
  (fault) => {
    expect(() => parseWith(execSchema, 'It', { code: '', runtime: 'x', y: 1 })).toThrow(fault);
  },
);

test('a secret value is not in the message', () => {
  const parse = (): unknown => parseWith(inputSchema, 'It', { keyboard: 'hunter2', keys: ['nope'] }, true);
  expect(parse).toThrow('"/keys/0"');
  expect(parse).not.toThrow('hunter2');
});

test.each(['', 'abc', 'é', '日本', '🎉', 'a\0', '\ud800', 'x\udc00y'])(
  'the length of %j is that of its UTF-8',
  (text) => {
    expect(utf8Length(text)).toBe(Buffer.byteLength(text));
  },
);

test.each([false, true])(
  'the description of a value stays short, however long the names in it (secret: %j)',
  (secret) => {
    const long = { ['k'.repeat(1_000_000)]: 1 };
    const refused = (): unknown => parseWith(execSchema, 'The command', long, secret);
    expect(refused).toThrow(expect.objectContaining({ code: 'invalid_input' }) as Error);
    try {
      refused();
    } catch (err) {
      expect((err as Error).message.length).toBeLessThan(3_000);
    }
  },
);
