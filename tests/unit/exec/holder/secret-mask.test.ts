import { randomBytes } from 'node:crypto';
import { SecretMask } from '../../../../exec/holder/secret-mask';

const maskOf = (secrets: Record<string, string>): SecretMask => {
  const mask = new SecretMask();
  for (const [name, value] of Object.entries(secrets)) mask.add(name, value);
  return mask;
};

function shown(secrets: Record<string, string>, chunks: readonly Buffer[]): string {
  const mask = maskOf(secrets);
  const parts = chunks.map((chunk) => mask.push(chunk));
  return Buffer.concat([...parts, mask.end()]).toString('latin1');
}

/** Cut at one place, at two, and into chunks of one size. */
function* cuts(text: Buffer): Generator<Buffer[]> {
  yield [text];
  for (let at = 0; at <= text.length; at++) {
    yield [text.subarray(0, at), text.subarray(at)];
    for (let next = at; next <= text.length; next += 3)
      yield [text.subarray(0, at), text.subarray(at, next), text.subarray(next)];
  }
  for (let size = 1; size < 12; size++)
    yield Array.from({ length: Math.ceil(text.length / size) }, (_, n) =>
      text.subarray(n * size, (n + 1) * size),
    );
}

test.each([
  {
    title: 'a value',
    secrets: { A: 'hunter22' },
    text: 'in: hunter22, hunter22',
    says: 'in: {{secret:A}}, {{secret:A}}',
  },
  {
    title: 'two values in a row',
    secrets: { A: 'hunter22', B: 'swordfish' },
    text: 'hunter22swordfish',
    says: '{{secret:A}}{{secret:B}}',
  },
  {
    title: 'its beginning alone',
    secrets: { A: 'hunter22' },
    text: 'hunter2 hunter hhunter2',
    says: 'hunter2 hunter hhunter2',
  },
  {
    title: 'a false beginning before it',
    secrets: { A: 'aab-aac' },
    text: 'aab-aab-aac',
    says: 'aab-{{secret:A}}',
  },
  {
    title: 'one in another',
    secrets: { A: 'hunter22', B: 'my-hunter22-key' },
    text: 'my-hunter22-key hunter22',
    says: '{{secret:B}} {{secret:A}}',
  },
  {
    title: 'one that begins another',
    secrets: { A: 'hunter22', B: 'hunter22-and-more' },
    text: 'hunter22-and-less',
    says: '{{secret:A}}-and-less',
  },
  {
    title: 'several that overlap',
    secrets: { A: 'abcXYZ1', B: 'XYZ1def' },
    text: '<abcXYZ1def>',
    says: '<{{secret:A}}>',
  },
  { title: 'one that repeats itself', secrets: { A: 'aaaaaa' }, text: 'baaaaaaaab', says: 'b{{secret:A}}b' },
  {
    title: 'several lines',
    secrets: { A: 'line one\nline two' },
    text: 'k: line one\r\nline two\r\n',
    says: 'k: {{secret:A}}\r\n',
  },
])('$title: the same comes out wherever the stream is cut', ({ secrets, text, says }) => {
  for (const chunks of cuts(Buffer.from(text)))
    expect(shown(secrets as Record<string, string>, chunks)).toBe(says);
});

test('one that begins another may be masked by either name, and its rest is never shown', () => {
  const secrets = { A: 'hunter22', B: 'hunter22-and-more' };
  for (const chunks of cuts(Buffer.from('[hunter22-and-more]')))
    expect(shown(secrets, chunks)).toMatch(/^\[\{\{secret:[AB]\}\}\]$/);
});

test('bytes that are not text pass as they are', () => {
  const text = Buffer.concat([
    randomBytes(64).fill(0xff, 0, 8),
    Buffer.from('hünter22'),
    Buffer.from([0, 0xc3, 0x28]),
  ]);
  const says = Buffer.concat([
    text.subarray(0, 64),
    Buffer.from('{{secret:A}}'),
    Buffer.from([0, 0xc3, 0x28]),
  ]);
  for (const chunks of cuts(text)) expect(shown({ A: 'hünter22' }, chunks)).toBe(says.toString('latin1'));
});

test('no more is held back than may be the beginning of a value', () => {
  const mask = maskOf({ A: 'hunter22', B: 'swordfish' });
  expect(mask.push(Buffer.from('plain')).toString()).toBe('plain');
  expect(mask.push(Buffer.from('x hunter2')).toString()).toBe('x ');
  expect(mask.push(Buffer.from('!')).toString()).toBe('hunter2!');
  expect(mask.push(Buffer.from('hunter22')).toString()).toBe('{{secret:A}}');
  expect(mask.push(Buffer.from('swordfis')).toString()).toBe('');
  expect(mask.end().toString()).toBe('swordfis');
});

test('a value is masked as soon as it is known, also in output held back at that time', () => {
  const mask = maskOf({ A: 'hunter22' });
  expect(mask.push(Buffer.from('swordfish hunt')).toString()).toBe('swordfish ');
  mask.add('B', 'hunt-down');
  expect(Buffer.concat([mask.push(Buffer.from('-down swordfish')), mask.end()]).toString()).toBe(
    '{{secret:B}} swordfish',
  );
});

test('JSON is masked in all its texts, names of fields too, and keeps the rest', () => {
  const mask = maskOf({ A: 'hunter22' });
  const value = { a: ['x hunter22', 1, null, true], hunter22: { deep: 'hunter22!' } };
  expect(mask.value(value)).toEqual({
    a: ['x {{secret:A}}', 1, null, true],
    '{{secret:A}}': { deep: '{{secret:A}}!' },
  });
  expect(mask.value(undefined)).toBeUndefined();
});
