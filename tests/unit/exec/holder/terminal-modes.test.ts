// What programs leave switched on in a terminal is known, however their output is cut, and undone once.
import { TerminalModes } from '../../../../exec/holder/terminal/terminal-modes';

const E = '\x1b';

function undoOf(text: string, cut = text.length): string {
  const modes = new TerminalModes();
  for (let at = 0; at < text.length; at += cut) modes.push(Buffer.from(text.slice(at, at + cut)));
  return modes.takeUndo();
}

test.each([
  ['the other screen', `${E}[?1049h${E}[2J`, `${E}[?1049l`],
  ['a hidden cursor', `${E}[?25l`, `${E}[?25h`],
  ['the mouse', `${E}[?1000h${E}[?1006h`, `${E}[?1000l${E}[?1006l`],
  ['several modes at once', `${E}[?1002;1006;2004h`, `${E}[?1002l${E}[?1006l${E}[?2004l`],
  ['line drawing', `${E}(0lqk`, `${E}(B`],
  ['shifted characters', `a\x0eb`, '\x0f'],
  ['colours', `${E}[31mred`, `${E}[m`],
  ['margins', `${E}[1;20r`, `${E}7${E}[r${E}8`],
  ['inserting', `${E}[4h`, `${E}[4l`],
  // fish-shell/fish-shell#4873
  ['the keypad', `${E}[?1h${E}=`, `${E}[?1l${E}>`],
])('%s that is left on is undone', (_what, text, undo) => {
  expect(undoOf(text)).toBe(undo);
  expect(undoOf(text, 1)).toBe(undo);
});

test.each([
  ['plain text', 'text\r\n'],
  ['what was undone', `${E}[?1049h${E}[?25l${E}(0x${E}(B${E}[?25h${E}[?1049l${E}[31mred${E}[0m`],
  ['a reset', `${E}[?1049h${E}[31m${E}c`],
  ['a soft reset', `${E}[?25l${E}[!p`],
  ['cursor moves', `${E}[3A${E}[2K${E}[10;20H`],
  ['modes of programs that nobody else notices', `${E}[?12h${E}[?12l`],
  ['the usual modes', `${E}[?25h${E}[?7h${E}(B${E}[m`],
])('%s leaves nothing', (_what, text) => {
  expect(undoOf(text)).toBe('');
});

test('what was undone is not undone again', () => {
  const modes = new TerminalModes();
  modes.push(Buffer.from(`${E}[?25l`));
  expect(modes.takeUndo()).not.toBe('');
  expect(modes.takeUndo()).toBe('');
});

test.each(['[6n', '[5n', '[?6n', '[c', '[0c', '[>c', '[=c', '[?2026$p', '[4$p', '[>q', '[18t', 'P$qm\x1b\\'])(
  'ESC %s is a question',
  (question) => {
    expect(new TerminalModes().push(Buffer.from(`text${E}${question}`))).toBe(true);
    const cut = new TerminalModes();
    const asked = [...`${E}${question}`].map((char) => cut.push(Buffer.from(char)));
    expect(asked.filter(Boolean)).toHaveLength(1);
  },
);

test.each(['[1;1R', '[?1;2c', '[0n', '[?2026;2$y', '[2 q', '[m', '[8;40;120t', ']0;title\x07'])(
  'ESC %s is none',
  (text) => {
    expect(new TerminalModes().push(Buffer.from(`${E}${text}`))).toBe(false);
  },
);
