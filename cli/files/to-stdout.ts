// A file on standard output: byte for byte into a pipe or a file, inert in a terminal.
import { once } from 'node:events';
import { draw } from '../terminal/guarded-output';

export async function writeToStdout(data: AsyncIterable<Uint8Array>): Promise<void> {
  const { stdout } = process;
  // Pieces end anywhere, in the middle of a character, too.
  const decoder = stdout.isTTY ? new TextDecoder() : null;
  for await (const piece of data) {
    const isTaken = decoder ? stdout.write(decoder.decode(piece, { stream: true })) : draw(piece);
    if (!isTaken) await once(stdout, 'drain');
  }
  if (decoder) stdout.write(decoder.decode());
}
