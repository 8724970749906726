// The lines of a text, as they come.
import type { Readable } from 'node:stream';

/**
 * Without their ends. Only line feeds end a line: Node's readline also takes U+2028 and U+2029, which are text like any
 * other, and which JSON does not escape.
 */
export async function* linesOf(stream: Readable): AsyncGenerator<string> {
  // Joined at the end of the line: a long one comes in thousands of pieces.
  let pieces: string[] = [];
  for await (const text of stream.setEncoding('utf8') as AsyncIterable<string>) {
    const [first = '', ...further] = text.split('\n');
    pieces.push(first);
    for (const start of further) {
      yield pieces.join('');
      pieces = [start];
    }
  }
  const last = pieces.join('');
  if (last !== '') yield last;
}
