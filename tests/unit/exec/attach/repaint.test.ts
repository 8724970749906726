// The screen of a person who attaches in the middle of what a program prints.
import { repaint } from '../../../../exec/attach/repaint';

const SIZE = { cols: 40, rows: 5 };
const drawn = async (bytes: Buffer): Promise<string> => (await repaint(bytes, SIZE)).drawing;

test.each([
  ['hello \x1b[1;31mworld\x1b[0m!'],
  ['\x1b[?1049h\x1b[2J\x1b[3;4Hmenu\x1b(B\x1b7'],
  ['a\x1b]0;a title\x07b\x1b]2;another\x1b\\c'],
  ['grüße ✓ 漢字 🙂'],
  ['\x1b[38;2;1;2;3mcolour\x1bP+q544e\x1b\\ after'],
])('a screen is the same wherever the output is cut: %j', async (text) => {
  const bytes = Buffer.from(text);
  const whole = await drawn(bytes);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const { drawing, rest } = await repaint(bytes.subarray(0, cut), SIZE);
    const both = Buffer.concat([Buffer.from(drawing), bytes.subarray(cut - rest)]);
    expect({ cut, screen: await drawn(both) }).toEqual({ cut, screen: whole });
  }
});

test('a sequence that never ends keeps nothing from being drawn', async () => {
  const { drawing, rest } = await repaint(Buffer.from(`\x1b[${'1;'.repeat(2_000)}`), SIZE);
  expect({ drawing, rest }).toEqual({ drawing: '', rest: 0 });
  expect((await repaint(Buffer.from([0x61, 0x80, 0x80, 0x80, 0x80]), SIZE)).rest).toBe(0);
});
