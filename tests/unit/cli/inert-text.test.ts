import { InertText } from '../../../cli/terminal/inert-text';

const E = '\x1b';
/** Controls but backspace, tab, line feed and carriage return, which move within a line. */
// eslint-disable-next-line no-control-regex -- control characters are the point
const CONTROL = /[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]/;
// eslint-disable-next-line no-control-regex -- control characters are the point
const COLOURS = /\x1b\[[0-9;:]*m/g;
const OPTIONS = { colours: false, carriageReturns: false, inOrder: false };

/** What the reader's terminal gets when `chunks` go in. */
function inert(
  options: { colours: boolean; carriageReturns: boolean; inOrder?: boolean },
  ...chunks: (string | Buffer)[]
): string {
  const filter = new InertText({ inOrder: false, ...options });
  return chunks.map((chunk) => filter.push(Buffer.from(chunk as string))).join('') + filter.end();
}

const TABLE: [string, string, string][] = [
  ['plain text stays', 'a\tb\nc', 'a\tb\nc'],
  ['line ends of a terminal become plain ones', 'a\r\nb\r\r\n', 'a\nb\n'],
  ['non-ASCII text stays', 'naïve 日本 🎉', 'naïve 日本 🎉'],
  ['look-alikes stay', 'a \\x1b[31m ^[[0m [31m ]0;x', 'a \\x1b[31m ^[[0m [31m ]0;x'],
  ['a write to the clipboard goes (OSC 52)', `a${E}]52;c;aGVsbG8=\x07b`, 'ab'],
  ['a write to the clipboard with the other end goes', `a${E}]52;c;aGVsbG8=${E}\\b`, 'ab'],
  ['titles go', `a${E}]0;title\x07${E}]2;t${E}\\b`, 'ab'],
  ['links go and their text stays', `${E}]8;;http://x${E}\\text${E}]8;;${E}\\`, 'text'],
  ['a request for the position goes (DSR)', `a${E}[6nb`, 'ab'],
  ['a request for the kind of terminal goes (DA)', `a${E}[c${E}[>0c${E}Zb`, 'ab'],
  ['a request for the title goes', `a${E}[21tb`, 'ab'],
  ['a key redefinition goes (DCS)', `a${E}P0;1|17/636174${E}\\b`, 'ab'],
  ['a privacy message and an application command go', `a${E}^x${E}\\${E}_y${E}\\${E}Xz${E}\\b`, 'ab'],
  ['cursor moves and clears go', `a${E}[2J${E}[H${E}[10;5Hb${E}[K`, 'ab'],
  ['modes go', `a${E}[?1049h${E}[?2004h${E}=${E}>b`, 'ab'],
  ['a full reset goes', `a${E}cb`, 'ab'],
  ['character sets go', `a${E}(0q${E}(Bb`, 'aqb'],
  ['bells, shifts and NUL go', 'a\x07\x00\x05\x0e\x0fb', 'ab'],
  ['C1 controls go', 'a\u009b31m\u009d0;t\u009c\u0085\u0090b', 'a31m0;tb'],
  ['the delete character goes', 'a\x7fb', 'ab'],
  ['a lone escape goes', `a${E}`, 'a'],
  ['an unfinished sequence at the end goes', `a${E}[3`, 'a'],
  ['an unfinished title at the end goes', `a${E}]0;tit`, 'a'],
];

describe.each([
  ['without colours', { colours: false, carriageReturns: false }],
  ['with colours', { colours: true, carriageReturns: false }],
])('%s', (_name, options) => {
  test.each(TABLE)('%s', (_title, input, output) => {
    expect(inert(options, input)).toBe(output);
  });
});

test.each([
  [`a${E}[1;31mred${E}[0m`, 'ared', `a${E}[1;31mred${E}[0m`],
  [`${E}[38:2::1:2:3mx${E}[m`, 'x', `${E}[38:2::1:2:3mx${E}[m`],
  [`${E}[>4;2mx`, 'x', 'x'],
  [`${E}[?25mx`, 'x', 'x'],
])('colours of %j stay only if they are wanted', (input, without, withColours) => {
  expect(inert(OPTIONS, input)).toBe(without);
  expect(inert({ ...OPTIONS, colours: true }, input)).toBe(withColours);
});

test.each([
  ['stay where they are wanted', true, '1%\r2%\r\n'],
  ['stay inside a line, and go at its end, otherwise', false, '1%\r2%\n'],
])('carriage returns %s', (_title, carriageReturns, output) => {
  expect(inert({ colours: false, carriageReturns }, '1%\r2%\r\n')).toBe(output);
});

test.each([
  ['is written out where a terminal shows it', true, 'a\\u{202e}b\\u{2066}c\\u{2028}d'],
  ['stays as it was written elsewhere', false, 'a\u202eb\u2066c\u2028d'],
])('what shows text in another order or breaks its lines %s', (_title, inOrder, output) => {
  expect(inert({ ...OPTIONS, inOrder }, 'a\u202eb\u2066c\u2028d')).toBe(output);
});

test('joiners, selectors and marks of other scripts and of emoji stay, in order', () => {
  const text = 'می‌خواهم 👩‍💻 ❤️ ‏א';
  expect(inert({ ...OPTIONS, inOrder: true }, text)).toBe(text);
});

describe.each([
  { colours: false, carriageReturns: false },
  { colours: true, carriageReturns: false },
  { colours: true, carriageReturns: true },
])('with %j', (options) => {
  const text =
    `naïve 🎉 ${E}[1;31mred${E}[0m\r\n${E}]52;c;aGVsbG8=\x07x${E}]0;t${E}\\y${E}[6n` +
    `${E}P0;1|17/63${E}\\z\u009b2J\r\n${E}(0q${E}cend${E}[2`;
  const bytes = Buffer.from(text);
  const whole = inert(options, bytes);

  test('what is removed does not depend on where the stream is split', () => {
    for (let at = 0; at <= bytes.length; at++) {
      expect(inert(options, bytes.subarray(0, at), bytes.subarray(at))).toBe(whole);
    }
    expect(inert(options, ...Array.from(bytes, (byte) => Buffer.from([byte])))).toBe(whole);
  });

  test('nothing but colours begins with an escape', () => {
    expect(whole.replace(COLOURS, '')).not.toMatch(CONTROL);
  });
});

test.each([`a${E}]0;x${E}[31m\x07b`, `a${E}P${E}]52;c;eA==\x07${E}\\b`, `${E}${E}${E}[6nb`, `${E}[${E}[6nb`])(
  'a sequence inside another, %j, does not come through',
  (input) => {
    expect(inert({ ...OPTIONS, colours: true }, input).replace(COLOURS, '')).not.toContain(E);
  },
);

test('text before an unfinished sequence is shown at once', () => {
  const filter = new InertText(OPTIONS);
  expect(filter.push(Buffer.from(`shown${E}[3`))).toBe('shown');
  expect(filter.push(Buffer.from('1mmore'))).toBe('more');
});

test('a title that never ends does not hold back the output for ever', () => {
  const filter = new InertText(OPTIONS);
  const shown = filter.push(Buffer.from(`${E}]0;`)) + filter.push(Buffer.from('x'.repeat(5_000)));
  expect(shown).toContain('x'.repeat(100));
  expect(shown).not.toContain(E);
});

test('bytes that are not text leave no control characters behind', () => {
  const all = Buffer.from(Array.from({ length: 1_024 }, (_, i) => (i * 7) % 256));
  expect(inert(OPTIONS, all)).not.toMatch(CONTROL);
});
