import { ThinkFilter } from '../../../../models/http/think-filter';

test.each([
  ['<think>hm</think>\n\nYes.', 'Yes.'],
  ['\n<think>\nhm', ''],
  ['No <think>x</think>.', 'No <think>x</think>.'],
  ['<thing>', '<thing>'],
  ['<thi', '<thi'],
  ['', ''],
])('of %j the answer is %j, whole or in pieces of any size', (text, answer) => {
  expect(ThinkFilter.visible(text)).toBe(answer);
  for (const size of [1, 3, 8]) {
    let shown = '';
    const filter = new ThinkFilter((piece) => (shown += piece));
    for (let at = 0; at < text.length; at += size) filter.push(text.slice(at, at + size));
    filter.end();
    expect(shown.trim()).toBe(answer.trim());
  }
});
