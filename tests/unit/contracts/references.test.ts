import { findReferences, referenceFault, resolveReferences } from '../../../contracts/agents/references';

const LITERAL = [
  '$HOME/x',
  'costs $5',
  '$',
  '$5',
  '$$',
  '$$ and more',
  'see $a',
  '$a ',
  '$a.',
  '$a..b',
  '$a b',
  '${a}',
  '$$HOME/x',
  'a',
  '',
];

describe('a reference', () => {
  test.each([
    ['a whole text', { x: '$a' }, ['a']],
    ['a part of a result', { x: '$a.path.to.0.field' }, ['a']],
    ['in lists and objects, however deep', { x: [{ y: ['$a', { z: '$b.c' }] }] }, ['a', 'b']],
    ['several of one call', { x: '$a', y: '$a.b' }, ['a']],
    ['an id with digits, "_" and "-"', { x: '$_call-1' }, ['_call-1']],
    ['a path with letters of any language', { x: '$a.größe' }, ['a']],
    ['in a key', { $a: 1 }, []],
    ['escaped', { x: '$$a', y: ['$$$a.b'] }, []],
  ])('is found: %s', (_name, args, ids) => expect(findReferences(args)).toEqual(ids));

  test.each(LITERAL)('is not %j, which stays as it is', (text) => {
    expect(findReferences({ text })).toEqual([]);
    expect(resolveReferences({ text }, {})).toEqual({ args: { text } });
  });
});

describe('a plan', () => {
  const fault = (...calls: [string, object][]): string | null =>
    referenceFault(calls.map(([callId, args]) => ({ callId, args: { ...args } })));

  test('whose calls refer to earlier ones can be run', () => {
    expect(fault(['a', {}], ['b', { x: '$a' }], ['c', { x: ['$a', '$b.0'] }])).toBeNull();
  });

  test.each([
    [
      'unknown',
      [['a', { dir: '$HOME' }]],
      /"a", "\$HOME" refers to "HOME", which does not exist.*"\$\$HOME"/,
    ],
    [
      'forward',
      [
        ['a', { x: '$b.c' }],
        ['b', {}],
      ],
      /"\$b\.c" refers to "b", which comes after it.*there are none/,
    ],
    [
      'to itself',
      [
        ['a', {}],
        ['b', { x: '$b' }],
      ],
      /"b", "\$b" refers to itself\. It may refer to calls before it: "\$a"\./,
    ],
    [
      'in a circle',
      [
        ['a', { x: '$b' }],
        ['b', { x: '$a' }],
      ],
      /"a", "\$b" refers/,
    ],
  ] as [string, [string, object][], RegExp][])(
    'with a reference that is %s is refused',
    (_name, calls, text) => {
      expect(fault(...calls)).toMatch(text);
    },
  );

  test('is told every fault, each once', () => {
    const text = fault(['a', { x: '$q', y: '$q', z: '$r' }]) ?? '';
    expect(text.match(/In the call/g)).toHaveLength(2);
  });
});

describe('results', () => {
  const values = { a: 'text', b: { list: [{ name: 'n' }], 'deep-er': null, n: 3 }, c: [] };

  test.each([
    ['a whole one', { x: '$b.list' }, { x: [{ name: 'n' }] }],
    ['a part of a list', { x: ['$b.list.0.name', 1] }, { x: ['n', 1] }],
    ['null and numbers', { x: '$b.deep-er', y: '$b.n' }, { x: null, y: 3 }],
    ['what is escaped', { x: '$$a', y: '$$$a.b', z: '$a' }, { x: '$a', y: '$$a.b', z: 'text' }],
    ['other values', { x: [true, null, 1.5, {}] }, { x: [true, null, 1.5, {}] }],
  ])('are put in: %s', (_name, args, expected) => {
    const before = structuredClone(args);
    expect(resolveReferences(args, values)).toEqual({ args: expected });
    expect(args).toEqual(before);
  });

  test('that look like references are not resolved again', () => {
    expect(resolveReferences({ x: '$a' }, { a: '$b' })).toEqual({ args: { x: '$b' } });
  });

  test.each([
    ['$b.lists', /"\$b" is an object, allowed list, deep-er, n, got "lists"/],
    ['$b.list.1', /"\$b\.list" is a list of 1, allowed 0 to 0, got "1"/],
    ['$b.list.name', /list of 1/],
    ['$b.list.length', /list of 1/],
    ['$c.0', /"\$c" is an empty list/],
    ['$a.x', /"\$a" is a text without fields, got "x"/],
    ['$b.n.x', /number without fields/],
    ['$b.deep-er.x', /null without fields/],
    ['$b.constructor', /an object, allowed/],
    ['$b.__proto__', /an object, allowed/],
    ['$none', /no result of "none"/],
    ['$toString', /no result of "toString"/],
  ])('that do not exist are a fault that says which ones do: %s', (text, fault) => {
    expect(resolveReferences({ x: [text] }, values)).toEqual({
      fault: expect.stringMatching(fault) as string,
    });
  });
});
