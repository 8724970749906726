import { beginningOf, endOf, shortened, wellFormed } from '../../../../contracts/text/well-formed';
import { fitText } from '../../../../contracts/payload-size';

const TEXT = 'ab😀cd';

test('no cut splits a surrogate pair, wherever it is', () => {
  for (let length = 0; length <= TEXT.length + 1; length++) {
    for (const part of [beginningOf(TEXT, length), endOf(TEXT, length), shortened(TEXT, length)])
      expect([length, part, part.isWellFormed()]).toEqual([length, part, true]);
    expect(TEXT.startsWith(beginningOf(TEXT, length))).toBe(true);
    expect(TEXT.endsWith(endOf(TEXT, length))).toBe(true);
    expect(beginningOf(TEXT, length).length).toBeGreaterThanOrEqual(Math.min(length, TEXT.length) - 1);
  }
  const long = '😀'.repeat(500);
  for (let bytes = 60; bytes < 120; bytes++) expect(fitText(long, bytes).isWellFormed()).toBe(true);
});

// anthropics/claude-code#86560
test('half a pair is replaced in every text of a value, keys included, and the rest stays as it is', () => {
  const deep = { ok: [1, null, 'x'], '\ud83d': { a: ['\udc00b', { c: 'd\ud800' }] } };
  expect(wellFormed(deep)).toEqual({ ok: [1, null, 'x'], '\ufffd': { a: ['\ufffdb', { c: 'd\ufffd' }] } });
  const whole = { a: ['😀', { b: NaN }] };
  expect(wellFormed(whole)).toBe(whole);
});
