import { escapeActive, inertLine, inertText, inOrder, withoutActive } from '../../../../contracts/text/inert';

test.each([
  ['an escape sequence', '\x1b[2J', '\\u{1b}[2J'],
  ['a title by C1', '\x9d0;x\x9c', '\\u{9d}0;x\\u{9c}'],
  ['DEL, backspace and a bare carriage return', 'a\x7f\b\rb', 'a\\u{7f}\\u{8}\\u{d}b'],
  ['what turns the direction', 'a\u202eb\u2066c\u200f\u061c', 'a\\u{202e}b\\u{2066}c\\u{200f}\\u{61c}'],
  ['what has no width', 'a\u200b\u2060\ufeff\u00ad', 'a\\u{200b}\\u{2060}\\u{feff}\\u{ad}'],
  ['separators of lines and paragraphs', '\u2028\u2029', '\\u{2028}\\u{2029}'],
  ['selectors of variants', 'a\ufe00b\u{e0101}', 'a\\u{fe00}b\\u{e0101}'],
  [
    'a joiner of graphemes, fillers and vowels that are not drawn',
    '\u034f\u3164\u17b4',
    '\\u{34f}\\u{3164}\\u{17b4}',
  ],
  ['format characters beyond the first plane', '\u{13430}\u{1d173}', '\\u{13430}\\u{1d173}'],
  ['tag characters', '\u{e0041}', '\\u{e0041}'],
  ['half a surrogate pair', 'a\ud800b', 'a\\u{d800}b'],
])('%s is written out', (_what, text, shown) => {
  expect(inertText(text)).toBe(shown);
  expect(JSON.parse(escapeActive(JSON.stringify(text)))).toBe(text);

  expect(escapeActive(JSON.stringify(text))).toMatch(/^[\x20-\x7e]*$/);
});

test('text of any script, emoji and line ends stay', () => {
  expect(inertText('❤️ \u0600٣ ก็ नि')).toBe('❤️ \u0600٣ ก็ नि');
  expect(inertText('Grüße, мир, 世界, שלום 👋\r\n\tx')).toBe('Grüße, мир, 世界, שלום 👋\n\tx');
  expect(inertLine('a\nb\tc')).toBe('a\\nb\\tc');
});

test('harmless text keeps its joiners, and a label holds nothing active', () => {
  expect(inOrder('a\u200d\u200fb\u202e\u2067\u2028c')).toBe('a\u200d\u200fb\\u{202e}\\u{2067}\\u{2028}c');
  expect(withoutActive('a\x1b\n\t\u202e\ufe00b')).toBe('a     b');
});
