import { renderText } from '../../../exec/render';

const E = '\x1b';

test.each([
  ['plain text stays', 'hello\r\nworld\r\n', 'hello\nworld\n'],
  ['text without a line end gets none', 'hello', 'hello'],
  ['nothing stays nothing', '', ''],
  ['blank lines stay', 'a\r\n\r\n\r\nb\r\n', 'a\n\n\nb\n'],
  ['tabs stay in plain text', 'a\tb\n', 'a\tb\n'],
  ['a doubled carriage return is one line end', 'a\r\r\nb\n', 'a\nb\n'],
  ['a progress bar shows its last state', '10%\r50%\r100%\r\n', '100%\n'],
  ['a shorter last state leaves the rest of the line, as a terminal does', 'abcdef\rxy\r\n', 'xycdef\n'],
  ['a cleared line shows what came after', `working...\r${E}[2Kdone\r\n`, 'done\n'],
  ['a progress bar over two lines shows its last state', `a 1\r\nb 1\r\n${E}[2Aa 2\r\nb 2\r\n`, 'a 2\nb 2\n'],
  [
    'a thousand steps of progress are one line',
    Array.from({ length: 1_001 }, (_, i) => `\r${i}/1000`).join(''),
    '1000/1000',
  ],
  ['backspaces erase', 'ab\b \bc\r\n', 'ac\n'],
  ['colours go', `${E}[1;31mred${E}[0m plain\r\n`, 'red plain\n'],
  ['256 and true colours go', `${E}[38;5;196ma${E}[48;2;1;2;3mb${E}[m\r\n`, 'ab\n'],
  ['titles go', `${E}]0;title\x07text\r\n`, 'text\n'],
  ['titles with the other end go', `${E}]2;title${E}\\text\r\n`, 'text\n'],
  ['links show their text', `${E}]8;;http://x${E}\\link${E}]8;;${E}\\\r\n`, 'link\n'],
  ['modes go', `${E}[?2004h${E}[?25ltext${E}[?25h\r\n`, 'text\n'],
  ['bells go', 'ding\x07\r\n', 'ding\n'],
  ['NUL bytes go', 'a\0b\r\n', 'ab\n'],
  ['literal \\x41 stays', 'literal \\x41 \\u001b[31m \\033[0m\r\n', 'literal \\x41 \\u001b[31m \\033[0m\n'],
  ['literal \\x41 stays beside a real sequence', `${E}[1m\\x41${E}[0m [31m ^[[0m\r\n`, '\\x41 [31m ^[[0m\n'],
  ['wide characters stay', `${E}[1m日本 🎉${E}[0m é\r\n`, '日本 🎉 é\n'],
  [
    'a line longer than the emulator stays one line',
    `${E}[1m${'x'.repeat(1_000)}${E}[0m\r\n`,
    `${'x'.repeat(1_000)}\n`,
  ],
  [
    'a thousand lines stay',
    `${E}[m${Array.from({ length: 1_000 }, (_, i) => `${i}\r\n`).join('')}`,
    Array.from({ length: 1_000 }, (_, i) => `${i}\n`).join(''),
  ],
  ['an unfinished sequence at the end goes', `text${E}[3`, 'text'],
])('%s', async (_title, input, output) => {
  expect(await renderText(Buffer.from(input))).toBe(output);
});

test('no byte, alone or between text, throws', async () => {
  for (let byte = 0; byte < 256; byte++) {
    for (const data of [[byte], [0x61, byte, 0x62, 0x0a], [0x1b, byte, byte, 0x0d, 0x0a]]) {
      expect(typeof (await renderText(Buffer.from(data)))).toBe('string');
    }
  }
});

test('bytes that are no UTF-8 are shown as replacements, the text beside them stays', async () => {
  expect(await renderText(Buffer.from([0x61, 0xff, 0xfe, 0x62, 0x0a]))).toBe('a\ufffd\ufffdb\n');
});
