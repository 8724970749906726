// S11, S12: the view is what a person would see, whatever the bytes.
import { renderText } from '../../../exec/output/render';

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
  [
    'a bar of pip shows its last state',
    `${E}[?25l     ${E}[38;5;237m━━━━━━━━${E}[0m ${E}[32m0.0/2.0 MB${E}[0m ${E}[31m?${E}[0m eta ${E}[36m-:--:--${E}[0m\r${E}[2K     ${E}[38;2;249;38;114m━━━━━━━━${E}[0m ${E}[32m2.0/2.0 MB${E}[0m eta ${E}[36m0:00:00${E}[0m\r\n${E}[?25hdone\r\n`,
    '     ━━━━━━━━ 2.0/2.0 MB eta 0:00:00\ndone\n',
  ],
  [
    'a spinner of npm leaves nothing',
    `${'⠙⠹⠸⠼'.replace(/./gu, (c) => `${E}[1G${E}[0K${c}`)}${E}[1G${E}[0K\r\nadded 1 package\r\n`,
    '\nadded 1 package\n',
  ],
  [
    'the meter of curl shows its head and its last line',
    '  % Total    % Received\r\n\r  0     0    0     0\r 50  100k   50   50k\r100  100k  100  100k\r\n',
    '  % Total    % Received\n100  100k  100  100k\n',
  ],
  [
    'a build of cargo shows what was compiled and not the bar between',
    `${E}[32m   Compiling${E}[0m a v1.0\r\n${E}[36m    Building${E}[0m [==>   ] 1/2: a\r${E}[K${E}[32m   Compiling${E}[0m b v1.0\r\n${E}[36m    Building${E}[0m [====> ] 2/2: b\r${E}[K${E}[32m    Finished${E}[0m dev\r\n`,
    '   Compiling a v1.0\n   Compiling b v1.0\n    Finished dev\n',
  ],
  [
    'the layers of docker, redrawn from the top, show their last states',
    ['Waiting', 'Downloading [=> ]', 'Pull complete']
      .map(
        (state, n) =>
          `${n ? `${E}[3A` : ''}${['a', 'b', 'c'].map((id) => `${E}[2K\r${id}: ${state}\r\n`).join('')}`,
      )
      .join(''),
    'a: Pull complete\nb: Pull complete\nc: Pull complete\n',
  ],
  [
    'the bar of apt at the bottom of the screen does not cover the text',
    `Unpacking\r\n\n${E}7${E}[0;39r${E}8${E}[1A${E}7${E}[40;0f${E}[42mProgress: [ 50%]${E}[49m${E}8Setting up\r\nready\r\n`,
    expect.stringMatching(/^Unpacking\nSetting up\nready\n+Progress: \[ 50%\]\n$/) as string,
  ],
  [
    'a full-screen program shows its screen after the earlier output',
    `before\r\n${E}[?1049h${E}[2J${E}[Htop of the screen${E}[3;5Hmiddle`,
    'before\ntop of the screen\n\n    middle',
  ],
  [
    'a full-screen program that has ended leaves what was there',
    `a\r\n${E}[?1049h${E}[Hx${E}[?1049lb\r\n`,
    'a\nb\n',
  ],
  [
    'lines without a return, as raw mode gives them, begin at the left',
    `${E}[1ma${E}[0m\nb\nc\n`,
    'a\nb\nc\n',
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
  // xtermjs/xterm.js#734
  ['tabs stay beside colours', `a\tb\r\n${E}[32mok${E}[0m\r\n`, 'a\tb\nok\n'],
  [
    'tabs stay in the coloured difference of a Makefile',
    `${E}[1mdiff${E}[m\r\n${E}[31m-\techo hi${E}[m\r\n${E}[32m+${E}[m\t${E}[32mecho ho${E}[m\r\n`,
    'diff\n-\techo hi\n+\techo ho\n',
  ],
  ['empty columns at both ends stay', `${E}[1m\ta\t\tb\t\t${E}[m\r\nc\td\r\n`, '\ta\t\tb\t\t\nc\td\n'],
  ['a tab in a state that is overwritten goes', `1%\t50%\r${E}[2Kdone\r\n`, 'done\n'],
  ['a tab over text that stays moves only', `abcdefghij\r\tX\r\n`, 'abcdefghXj\n'],
  ['a tab behind a redrawn line stays', `a\tb\r\nx${E}[1A\rc\r\n\r\n`, 'c\tb\nx\n'],
  ['tabs behind the widest line stay', `${E}[m${'x'.repeat(398)}\ty\tz\r\n`, `${'x'.repeat(398)}\ty\tz\n`],
  ['tabs in a title go with it', `${E}]0;a\tb\x07c\td${E}[m\r\n`, 'c\td\n'],
  ['tabs stay in every one of many lines', `${E}[m${'a\tb\r\n'.repeat(3_000)}`, 'a\tb\n'.repeat(3_000)],
  // microsoft/terminal#11013
  ...[0x85, 0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f].map((code): [string, string, string] => [
    `U+00${code.toString(16)} in UTF-8 text begins nothing`,
    `before ${String.fromCharCode(code)} after\r\nnext ${E}[1mline${E}[m\r\n`,
    'before \ufffd after\nnext line\n',
  ]),
  [
    'quotes that were encoded twice hide nothing',
    'say \u00e2\u0080\u009chi\r\nmore\r\n',
    'say \u00e2\ufffd\ufffdhi\nmore\n',
  ],
  // lacion/fleet-deck#27, daintreehq/daintree#7205, edison7009/Coffee-CLI#115, mitchdenny/hex1b#144
  ...['✅', '❌', '⭐', '✨', '⏳', '🚀', '🫠', '日', '🖼️', '👍'].map((wide): [string, string, string] => [
    `${wide} takes two columns`,
    `${wide} ok${E}[4Gdone\r\n`,
    `${wide} done\n`,
  ]),
  ...['é', 'e\u0301', 'ｱ', '→', '─', '✓', '1'].map((narrow): [string, string, string] => [
    `${narrow} takes one column`,
    `${narrow} ok${E}[3Gdone\r\n`,
    `${narrow} done\n`,
  ]),
  ['a flag takes two columns', `🇩🇪 ok${E}[4Gdone\r\n`, '🇩🇪 done\n'],
  // pyzo/pyzo#704
  [
    'each state of a line replaces the one before, behind a line that stays',
    'text1\r\ntext2\rtext3\rtext4\r\n',
    'text1\ntext4\n',
  ],
])('%s', async (_title, input, output) => {
  expect(await renderText(Buffer.from(input))).toEqual(output);
});

test.each([
  [
    'a line that is drawn again while it is typed',
    '# ',
    `echo \r${E}[2C${E}[5Chi\r${E}[9C${E}[7Decho hi\r${E}[9C\r\nhi\r\n`,
    'echo hi\nhi\n',
  ],
  ['a line that is drawn anew from its beginning', '10%', `\r20%\r\n`, '20%\n'],
  ['a line that goes on in colours', 'name: ', `${E}[1mAnn${E}[m\r\n`, 'Ann\n'],
  ['a line that has only its end to come', '9200\r', `\n${E}[mnext\r\n`, '\nnext\n'],
  ['a line that is erased', '10%', `\r${E}[Kdone\r\n`, 'done\n'],
])('%s is shown once, without what was there before', async (_what, before, data, output) => {
  expect(await renderText(Buffer.from(data), Buffer.from(before))).toBe(output);
});

test('no byte, alone or between text, throws', async () => {
  for (let byte = 0; byte < 256; byte++) {
    for (const data of [[byte], [0x61, byte, 0x62, 0x0a], [0x1b, byte, byte, 0x0d, 0x0a]]) {
      expect(typeof (await renderText(Buffer.from(data)))).toBe('string');
    }
  }
});

test('bytes that are not UTF-8 are shown as replacements, the text around them stays', async () => {
  expect(await renderText(Buffer.from([0x61, 0xff, 0xfe, 0x62, 0x0a]))).toBe('a\ufffd\ufffdb\n');
});

describe('output made to be expensive', () => {
  const numbered = ['b', 'S', 'T', 'L', 'M', 'I', 'Z', '@', 'P', 'X', ' @', ' A'];
  test.each([
    ...numbered.map((final) => [`two billion times ${final}`, `a${E}[2000000000${final}b\r\n`]),
    ['a repetition again and again', `a${E}[400b`.repeat(16_000)],
    ['a reset again and again', `${E}c`.repeat(60_000)],
    ['a cursor far to the right in each line', `${E}[399Cx\r\n`.repeat(12_000)],
    ['a tab in each line, and each line drawn twice', `a\tb\r\n${E}[1A\tc\r\n`.repeat(8_000)],
    ['steps down in raw mode', `${E}[m${'x\n'.repeat(60_000)}`],
  ])('%s: is rendered in bounded time, to bounded text', async (_name, text) => {
    const began = Date.now();
    const shown = await renderText(Buffer.from(text));
    // Without a bound it takes minutes.
    expect(Date.now() - began).toBeLessThan(30_000);
    expect(shown.length).toBeLessThanOrEqual(2 * text.length + 16_000);
  });

  test('others have their turn meanwhile', async () => {
    let turns = 0;
    const clock = setInterval(() => (turns += 1), 1);
    await renderText(Buffer.from(`${E}[40S`.repeat(20_000)));
    clearInterval(clock);
    // At one go there would be none.
    expect(turns).toBeGreaterThan(0);
  });

  test('text that takes too long is shown without its sequences, none of it left out', async () => {
    const lines = Array.from({ length: 1_000 }, (_, i) => `line ${i}`);
    const shown = await renderText(
      Buffer.from(lines.map((line) => `${`${E}[40S`.repeat(20)}${line}\r\n`).join('')),
    );
    expect(shown.split('\n').filter((line) => line !== '')).toEqual(lines);
  });
});
