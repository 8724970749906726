import { AttachedOutput } from '../../../cli/attached-output';

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
])('a query for %s reaches the terminal of who types, and not of who watches', (_, query) => {
  expect([shown(query, true), shown(query, false)]).toEqual([query, '']);
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

test('the alternate screen is left at the end only where it was entered', () => {
  const restoreAfter = (text: string): string => {
    const output = new AttachedOutput(true);
    output.push(Buffer.from(text));
    return output.restore();
  };
  expect(restoreAfter('\x1b[?1049h')).toContain('\x1b[?1049l');
  expect(restoreAfter('\x1b[?1049hx\x1b[?1049l')).not.toContain('\x1b[?1049l');
  expect(restoreAfter('plain')).not.toContain('\x1b[?1049l');
});
