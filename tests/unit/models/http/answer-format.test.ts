import { answerFormat } from '../../../../models/http/answer-format';

const closed = (properties: object, more: object = {}): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const formatOf = (schema: object, baseUrl: string | null = null): ReturnType<typeof answerFormat> =>
  answerFormat({ outputSchema: { ...schema }, access: { baseUrl, key: null, headers: {}, secrets: [] } });
const text = { type: 'string' };

test.each<[string, object]>([
  ['no keys', closed({})],
  [
    'texts',
    closed({ a: { type: 'string', pattern: '^a', description: 'A.' }, b: { type: ['string', 'null'] } }),
  ],
  ['lists of objects', closed({ a: { type: 'array', items: closed({ b: text }), minItems: 1 } })],
  ['alternatives', closed({ a: { anyOf: [text, closed({ b: text })] } })],
  ['definitions', closed({ a: { $ref: '#/$defs/b' } }, { $defs: { b: closed({ c: text }) } })],
])('the vendor enforces a schema of %s', (_name, schema) => {
  expect(formatOf(schema)).toEqual({ name: 'answer', schema, strict: true });
});

test.each<[string, object]>([
  ['any object', { type: 'object' }],
  ['a map', { type: 'object', additionalProperties: { type: 'number' } }],
  ['other keys', closed({ a: text }, { additionalProperties: true })],
  ['a key that may be missing', closed({ a: text }, { required: [] })],
  ['any object inside', closed({ a: { type: 'object' } })],
  ['any object in an alternative', closed({ a: { anyOf: [text, { type: 'object' }] } })],
  ['any object in a definition', closed({ a: { $ref: '#/$defs/b' } }, { $defs: { b: { type: 'object' } } })],
  ['any value', closed({ a: {} })],
  ['any value, as true', closed({ a: true })],
  ['a list of anything', closed({ a: { type: 'array' } })],
  ['a tuple', closed({ a: { type: 'array', prefixItems: [text], items: text } })],
  ['a set', closed({ a: { type: 'array', items: text, uniqueItems: true } })],
  ['one of several', closed({ a: { oneOf: [text] } })],
  ['a condition', closed({ a: text }, { if: {}, then: {} })],
  ['names of keys', closed({ a: text }, { propertyNames: { pattern: '^a' } })],
  ['a format that it does not know', closed({ a: { ...text, format: 'uri' } })],
  [
    'a reference with a description',
    closed({ a: { $ref: '#/$defs/t', description: 'x' } }, { $defs: { t: text } }),
  ],
])('a schema of %s is sent as advice', (_name, schema) => {
  expect(formatOf(schema)).toEqual({ name: 'answer', schema, strict: false });
});

const AT_ROOT: [string, object][] = [
  ['a list', { type: 'array', items: text }],
  ['a text', text],
  ['no type', {}],
  ['alternatives', { anyOf: [closed({})] }],
  ['an object with alternatives', { type: 'object', oneOf: [closed({})] }],
];

test.each(AT_ROOT)(
  'a schema of %s, which the vendor refuses, is sent to no server of its models',
  (_name, schema) => {
    for (const baseUrl of [null, 'https://eu.api.openai.com/v1', 'https://mine.openai.azure.com/openai/v1/'])
      expect(formatOf(schema, baseUrl)).toBeUndefined();
  },
);

test.each(AT_ROOT)('a schema of %s is sent to compatible servers', (_name, schema) => {
  for (const baseUrl of ['http://127.0.0.1:8000/v1', 'https://openai.com.example.org/v1'])
    expect(formatOf(schema, baseUrl)).toMatchObject({ name: 'answer', schema });
});
