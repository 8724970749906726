import { Readable } from 'node:stream';
import { linesOf } from '../../../system/processes/lines-of';

test.each([
  ['of whatever pieces they come in', ['a', 'b\n', '\nc', '\nd'], ['ab', '', 'c', 'd']],
  ['also a last one without an end', ['a\nb'], ['a', 'b']],
  [
    'with characters that other readers take for line ends',
    ['a\u2028b\u2029c\u0085d\re\n'],
    ['a\u2028b\u2029c\u0085d\re'],
  ],
  ['none of an empty text', [], []],
])('a text is read line by line, %s', async (_how, pieces, lines) => {
  const read: string[] = [];
  for await (const line of linesOf(Readable.from(pieces.map((piece) => Buffer.from(piece))))) read.push(line);
  expect(read).toEqual(lines);
});

test('a character that is cut in two by the pieces is whole', async () => {
  const bytes = Buffer.from('ä€😀\n');
  const read: string[] = [];
  for await (const line of linesOf(Readable.from([...bytes].map((byte) => Buffer.from([byte])))))
    read.push(line);
  expect(read).toEqual(['ä€😀']);
});
