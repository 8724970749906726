// When the line in front of the cursor is a prompt that was answered before.
import { Prompts } from '../../../../exec/holder/waiting/prompts';

let prompts: Prompts;
beforeEach(() => (prompts = new Prompts(0)));
const shows = (...pieces: string[]): void => pieces.forEach((piece) => prompts.add(Buffer.from(piece)));

test('a prompt is back when it stands again on a later line, in whatever pieces it arrives', () => {
  shows('>>> ');
  expect(prompts.isBack).toBe(false);
  prompts.answered(true, 0);
  // What was typed may not have reached the program yet.
  expect(prompts.isBack).toBe(false);
  shows('6 * 7\r\n42\r\n');
  expect(prompts.isBack).toBe(false);
  shows('>', '>> ');
  expect(prompts.isBack).toBe(true);
  shows('8');
  expect(prompts.isBack).toBe(false);
});

test('a prompt that counts is the same prompt', () => {
  shows('In [1]: ');
  prompts.answered(true, 0);
  shows('x\r\n\r\nIn [12]: ');
  expect(prompts.isBack).toBe(true);
});

test.each([
  ['a line that was typed behind while nothing waited', 'Building: ', false],
  ['an empty line', '  ', true],
  ['a long line', 'x'.repeat(300), true],
])('%s is no prompt', (_what, line, isWaiting) => {
  shows(line);
  prompts.answered(isWaiting, 0);
  shows(`y\n${line}`);
  expect(prompts.isBack).toBe(false);
});

test('the next command has prompts of its own', () => {
  shows('>>> ');
  prompts.answered(true, 0);
  prompts.clear();
  shows('\n>>> ');
  expect(prompts.isBack).toBe(false);
});
