// How long it takes to read an answer, whatever a model has written.
import { htmlOf } from '../../../console/text/limited-markdown';

const MOST_CHARS = 240_000;
/** What reads the text anew for each of its signs takes minutes. */
const MOST_MS = 10_000;
const fill = (unit: string): string => unit.repeat(Math.floor(MOST_CHARS / unit.length));

test.each<[shape: string, text: string]>([
  ...['**a*b ', '**a*b\n', '_a__b ', '~a~~b ', '*a**b ', '"***a', '[***~~', 'a_', '*', '**a ', '~~a '].map(
    (unit): [string, string] => [`${unit} …`, fill(unit)],
  ),
  ...['a', 'a-', 'a.'].map((unit): [string, string] => [`${unit} … @`, `${fill(unit)}@`]),
  ['long words with @', fill(`${'a'.repeat(5_000)}@ `)],
  ['signs before a heading', `${fill('!')}# `],
  ['brackets', fill('[')],
  ['code that does not end', fill('&``.')],
  ['addresses', `1. ${fill('http://-..(')}`],
  ['a list', fill('1. __\n&"')],
  ['an entry of many lines', fill('- a\nb')],
])('an answer of 240,000 characters does not hang the page, whatever it is made of: %s', (_, text) => {
  const begin = performance.now();
  htmlOf(text);
  expect(performance.now() - begin).toBeLessThan(MOST_MS);
});

test('a long answer in ordinary Markdown is read as such, with underscores and single signs in it', () => {
  const paragraph =
    'The `value_of` is **not** *that*, but user_name_here, 2 * 3 or *.ts (me@example.com). '.repeat(9);
  expect(htmlOf(`${paragraph}\n\n`.repeat(100))?.match(/<strong>not<\/strong>/g)).toHaveLength(100 * 9);
});
