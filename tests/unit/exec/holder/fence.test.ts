import { FenceFilter } from '../../../../exec/holder/shell/fence';

const FENCE = '\x1b]7717;0123456789abcdef\x07';

/** What comes out when `chunks` go in, flushed at the end. */
function filtered(...chunks: string[]): { text: string; fences: number } {
  const filter = new FenceFilter(Buffer.from(FENCE));
  let text = '';
  let fences = 0;
  for (const chunk of chunks) {
    const out = filter.push(Buffer.from(chunk, 'latin1'));
    text += out.data.toString('latin1');
    fences += out.fences;
  }
  return { text: text + filter.flush().toString('latin1'), fences };
}

test.each([
  ['no fence', 'plain', 'plain', 0],
  ['only a fence', FENCE, '', 1],
  ['a fence at the end', `a${FENCE}`, 'a', 1],
  ['a fence at the beginning', `${FENCE}b`, 'b', 1],
  ['a fence inside', `a${FENCE}b`, 'ab', 1],
  ['several fences', `a${FENCE}${FENCE}b${FENCE}`, 'ab', 3],
  ['the beginning of a fence before a fence', `${FENCE.slice(0, 5)}${FENCE}`, FENCE.slice(0, 5), 1],
  ['a fence of another session', '\x1b]7717;fedcba9876543210\x07', '\x1b]7717;fedcba9876543210\x07', 0],
  ['an unfinished fence at the very end', `a${FENCE.slice(0, -1)}`, `a${FENCE.slice(0, -1)}`, 0],
  ['an escape at the very end', 'a\x1b', 'a\x1b', 0],
  ['nothing', '', '', 0],
])('%s: only whole fences are cut out', (_name, input, text, fences) => {
  expect(filtered(input)).toEqual({ text, fences });
});

test('a fence is found wherever the stream is split, also into three', () => {
  const stream = `before ${FENCE}${FENCE.slice(0, 9)} between ${FENCE}after`;
  const expected = filtered(stream);
  expect(expected.fences).toBe(2);
  for (let a = 0; a <= stream.length; a++) {
    for (let b = a; b <= stream.length; b++) {
      expect(filtered(stream.slice(0, a), stream.slice(a, b), stream.slice(b))).toEqual(expected);
    }
  }
});

test('a fence is found in a stream of single bytes', () => {
  expect(filtered(...`x${FENCE}y`)).toEqual({ text: 'xy', fences: 1 });
});

test('only what may become a fence is kept back', () => {
  const filter = new FenceFilter(Buffer.from(FENCE));
  expect(filter.push(Buffer.from('abc')).data.toString()).toBe('abc');
  expect(filter.push(Buffer.from(`d${FENCE.slice(0, 7)}`)).data.toString()).toBe('d');
  expect(filter.push(Buffer.from('no')).data.toString()).toBe(`${FENCE.slice(0, 7)}no`);
  expect(filter.flush()).toHaveLength(0);
});

test('a flush gives what was kept back once', () => {
  const filter = new FenceFilter(Buffer.from(FENCE));
  filter.push(Buffer.from(FENCE.slice(0, 3)));
  expect(filter.flush().toString()).toBe(FENCE.slice(0, 3));
  expect(filter.flush()).toHaveLength(0);
});

test('bytes that are not text pass unchanged', () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
  const filter = new FenceFilter(Buffer.from(FENCE));
  expect(Buffer.concat([filter.push(bytes).data, filter.flush()]).equals(bytes)).toBe(true);
});
