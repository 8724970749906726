import { redact } from '../../../../models/http/redact';

const KEY = 'sk-live-0123456789abcdef';

test.each([
  ['the whole key', `wrong key ${KEY}.`, 'wrong key [hidden].'],
  ['its beginning', 'the key sk-live-0123... is wrong', 'the key [hidden]... is wrong'],
  ['its end', 'the key …89abcdef is wrong', 'the key …[hidden] is wrong'],
  [
    'a masked key',
    'Incorrect API key provided: sk-li**********cdef.',
    'Incorrect API key provided: [hidden]',
  ],
  ['a masked key in quotes', 'got "s**f", look', 'got "[hidden]", look'],
])('%s is not shown', (_name, text, shown) => {
  expect(redact(text, [KEY])).toBe(shown);
});

test('a text without a key stays as it is; a short secret is removed wherever it is', () => {
  expect(redact('Slow down, 3 * 2 = 6.', [KEY])).toBe('Slow down, 3 * 2 = 6.');
  expect(redact('a pw b', ['pw', ''])).toBe('a [hidden] b');
});

test('text that is too long is cut', () => {
  expect(redact('x'.repeat(5_000), []).length).toBeLessThan(1_100);
});
