import { AttachedOutput } from '../../../cli/terminal/attached-output';

const shown = (text: string, answers = true): string => new AttachedOutput(answers).push(Buffer.from(text));

test.each([
  ['colours', '\x1b[31mred\x1b[0m'],
  ['cursor movement', '\x1b[2J\x1b[5;10Hhere\x1b[1A\x1b[K'],
  ['the alternate screen', '\x1b[?1049h\x1b[?25l'],
  ['a scroll region and reverse index', '\x1b[2;10r\x1bM'],
  ['line drawing', '\x1b(0lqk\x1b(B'],
  ['saved cursors and keypad modes', '\x1b7\x1b8\x1b=\x1b>'],
  ['line ends, tabs, backspaces and bells', 'a\r\n\tb\b\x07'],
  ['text of any language', 'größe 字 🙂'],
])('%s pass unchanged', (_, text) => {
  expect(shown(text)).toBe(text);
});

test.each([
  ['the clipboard (OSC 52)', '\x1b]52;c;aGFja2Vk\x07'],
  ['a title', '\x1b]0;root@host\x1b\\'],
  ['a colour query', '\x1b]11;?\x07'],
  ['a device control string', '\x1bPq#0;2;0;0;0\x1b\\'],
  ['an application program command', '\x1b_payload\x1b\\'],
  ['a window report', '\x1b[21t'],
  ['a window operation', '\x1b[8;10;10t'],
  ['8-bit control characters', '\u009b31m\u009d0;x\u009c'.replace(/[^\u0080-\u009f]/g, '')],
  ['a device-control byte', '\x11\x13\x05'],
])('%s does not pass', (_, text) => {
  expect(shown(`a${text}b`)).toBe('ab');
});

test.each([
  ['device status', '\x1b[6n'],
  ['device attributes', '\x1b[c'],
  ['secondary attributes', '\x1b[>c'],
  ['a mode request', '\x1b[?2004$p'],
  ['the version', '\x1b[>0q'],
])('a query for %s reaches the terminal of the person who types, and not of one who watches', (_, query) => {
  expect([shown(query, true), shown(query, false)]).toEqual([query, '']);
});

test.each([
  ['a window report behind a control character', '\x1b\x01[21t', ''],
  ['a window report around one', '\x1b[2\x011t', ''],
  ['a query behind a control character', '\x1b\x01[6n', ''],
  ['a device string behind a control character', '\x1b\x01P$q"p\x1b\\', ''],
  ['an application command behind a control character', '\x1b\x01_Gi=1;AAAA\x1b\\', ''],
  ['a title behind NUL', '\x1b\x00]0;t\x07', ''],
  ['a window report around a title', '\x1b\x1b]0;x\x07[21t', '[21t'],
  ['the clipboard around a title', '\x1b\x1b]0;x\x07]52;c;YWJj\x07', ']52;c;YWJj\x07'],
  ['the clipboard for an outer tmux', '\x1bPtmux;\x1b\x1b]52;c;YWJj\x07\x1b\\', ''],
  ['a string inside a window operation', '\x1b\x1b[1t_Gi=1;AAAA\x1b\\', '_Gi=1;AAAA'],
  ['a sequence that was given up', '\x1b[2\x181t\x1b\x1a[6n', '1t[6n'],
  ['parameters behind intermediates', '\x1b[ 5n\x1b[!1p', ''],
])('%s does not pass in pieces', (_, text, left) => {
  expect(shown(`a${text}b`, false)).toBe(`a${left}b`);
});

test.each([
  ['a title of screen and tmux', '\x1bkTITLE\x1b\\'],
  ['printing', '\x1b[5i\x1b[?5i'],
  ['a checksum of the screen', '\x1b[1;1;1;1;1;1*y'],
  ['locking the keyboard', '\x1b[2h'],
  ['another encoding', '\x1b%@'],
  ['VT52', '\x1b[?2l'],
  ['8-bit answers', '\x1b G'],
  ['keys of kitty', '\x1b[>1u\x1b[=5;1u\x1b[<u\x1b[?u'],
  ['modified other keys', '\x1b[>4;2m\x1b[?4m'],
  ['keys of Windows', '\x1b[?9001h'],
  ['reports of focus', '\x1b[?1004h'],
])('%s does not pass, not even for the person who types', (_, text) => {
  expect(shown(`a${text}b`)).toBe('ab');
});

test('of several modes in one sequence those that draw pass', () => {
  expect(shown('\x1b[?1004;1000;2048;25h')).toBe('\x1b[?1000;25h');
});

test('an image is swallowed, and a string that never ends does not hide the output for ever', () => {
  expect(shown(`a\x1bPq${'~'.repeat(300_000)}\x1b\\b`)).toBe('ab');
  expect(shown(`\x1b]0;${'x'.repeat(2_000_000)}`)).toMatch(/^x{900000,}$/);
});

test('however the output is cut into pieces, the same passes', () => {
  const text = 'a\x1b[31mb\x1b]52;c;aGFja2Vk\x07c\x1b]0;t\x1b\\d\x1b[6ne\x1bPx\x1b\\f字\x1b[?1049hg';
  const whole = shown(text);
  const bytes = Buffer.from(text);
  for (let cut = 1; cut < bytes.length; cut++) {
    const output = new AttachedOutput(true);
    const pieces = output.push(bytes.subarray(0, cut)) + output.push(bytes.subarray(cut));
    expect(pieces).toBe(whole);
  }
});

test('the alternate screen is left at the end only if it was entered', () => {
  const restoreAfter = (text: string): string => {
    const output = new AttachedOutput(true);
    output.push(Buffer.from(text));
    return output.restore();
  };
  expect(restoreAfter('\x1b[?1049h')).toContain('\x1b[?1049l');
  expect(restoreAfter('\x1b[?1049hx\x1b[?1049l')).not.toContain('\x1b[?1049l');
  expect(restoreAfter('plain')).not.toContain('\x1b[?1049l');
  expect(restoreAfter('plain')).toContain('\x1b[?1004l');
});
