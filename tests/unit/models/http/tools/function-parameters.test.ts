// Schemas of tools of others, for which vendors would refuse every request that offers them.
import type { JsonSchema } from '../../../../../contracts/tools/tools';
import { functionParameters } from '../../../../../models/http/tools/function-parameters';

const text = { type: 'string' };
const put = {
  type: 'object',
  properties: { do: { const: 'put' }, path: text, content: text },
  required: ['do', 'path', 'content'],
};
const get = { type: 'object', properties: { do: { const: 'get' }, path: text }, required: ['do', 'path'] };

test('an ordinary schema is told as it is, to the letter', () => {
  const schema = {
    type: 'object',
    description: 'What to read.',
    properties: {
      paths: { type: 'array', items: text },
      how: { anyOf: [text, { type: 'object', properties: { items: text } }] },
    },
    required: ['paths'],
    additionalProperties: false,
  };
  expect(JSON.stringify(functionParameters(schema))).toBe(JSON.stringify(schema));
});

test.each<[string, object]>([
  ['without arguments', { type: 'object' }],
  ['of anything', {}],
  ['whose properties are none', { type: 'object', properties: null }],
])('a schema %s has properties all the same', (_what, schema) => {
  expect(functionParameters(schema as never)).toEqual({ type: 'object', properties: {} });
});

test.each(['anyOf', 'oneOf'])(
  'of a choice at the root by %s each argument is told, those that are always needed, and what belongs together',
  (keyword) => {
    const schema = { [keyword]: [put, get], properties: { dry: { type: 'boolean' } }, required: ['dry'] };
    expect(functionParameters(schema)).toEqual({
      type: 'object',
      description: `One of: ${JSON.stringify([put, get])}`,
      properties: {
        dry: { type: 'boolean' },
        do: { anyOf: [{ const: 'put' }, { const: 'get' }] },
        path: text,
        content: text,
      },
      required: ['dry'],
    });
  },
);

test('of parts that all apply each argument is told, and which of them are needed', () => {
  const schema = {
    description: 'Both.',
    allOf: [put, { $ref: '#/$defs/more~1s' }],
    $defs: { 'more/s': get },
  };
  expect(functionParameters(schema)).toEqual({
    type: 'object',
    description: 'Both.',
    $defs: { 'more/s': get },
    properties: { do: { anyOf: [{ const: 'put' }, { const: 'get' }] }, path: text, content: text },
    required: ['do', 'path', 'content'],
  });
});

test('a schema that is a reference, also to itself, is told as what it refers to', () => {
  const node = { ...get, allOf: [{ $ref: '#' }, { $ref: '#/$defs/node' }] };
  const schema = { $ref: '#/$defs/node', $defs: { node } };
  expect(functionParameters(schema as never)).toMatchObject({
    type: 'object',
    properties: get.properties,
    required: get.required,
  });
});

test.each(['#/$defs/none', '#/%', 'https://example.com/schema.json', '#anchor', ''])(
  'a reference to nothing that is there, %p, leaves the arguments open',
  ($ref) => expect(functionParameters({ $ref })).toEqual({ type: 'object', properties: {} }),
);

test('a list that does not say what its items are is one of anything, wherever it stands', () => {
  const list = { type: 'array' };
  const open = { type: 'array', items: {} };
  const schema = {
    type: 'object',
    properties: { a: list, b: { anyOf: [list, { type: ['array', 'null'] }] }, properties: list },
    $defs: { tuple: { type: 'array', prefixItems: [text, list] } },
  };
  expect(functionParameters(schema as never)).toEqual({
    type: 'object',
    properties: { a: open, b: { anyOf: [open, { type: ['array', 'null'], items: {} }] }, properties: open },
    $defs: { tuple: { type: 'array', prefixItems: [text, open], items: {} } },
  });
});

test('a schema that is nested deeper than the stack is told', () => {
  const schema = JSON.parse(`${'{"items":'.repeat(6_000)}{}${'}'.repeat(6_000)}`) as JsonSchema;
  expect(functionParameters({ properties: { deep: schema } })).toHaveProperty('properties.deep.items');
});
