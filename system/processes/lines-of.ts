// The lines of a text, as they come.
import type { Readable } from 'node:stream';

/**
 * Without their ends. Only line feeds end a line: Node's readline also takes U+2028 and U+2029, which are text like any
 * other, and which JSON does not escape.
 */
export async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const text of stream.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
