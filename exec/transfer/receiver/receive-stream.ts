// Receives one file as a stream: for standard output, and for the answer to a request.
import { createHash } from 'node:crypto';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { ChannelLost, received, type Channel } from '../channel';
import type { Entry } from '../transfer-messages';
import { shown } from '../names';
import type { Observer } from '../outcomes';

/**
 * The file that comes, and its bytes. Throws `ChannelLost`, and what the sender says; the bytes also throw
 * `checksum_mismatch` at their end, and `file_changed`, since what is given on cannot be taken back.
 */
export async function receiveStream(
  channel: Channel,
  observer: Observer = {},
): Promise<{ entry: Entry; data: AsyncGenerator<Buffer> }> {
  const said = await channel.next();
  if (said.is === 'broken') throw received(said.error);
  if (said.is !== 'entry' || said.kind !== 'file') throw new ChannelLost(`${said.is} came instead of a file`);
  if (said.id !== undefined) await askForAll(channel, said.n);
  return { entry: said, data: bytesOfFile(channel, said, observer) };
}

async function askForAll(channel: Channel, n: number): Promise<void> {
  await channel.send({ is: 'from', n, offset: 0, sha256: createHash('sha256').digest('hex') });
}

async function* bytesOfFile(
  channel: Channel,
  { n, name, size }: Entry,
  observer: Observer,
): AsyncGenerator<Buffer> {
  observer.began?.(name, size);
  const hash = createHash('sha256');
  let bytes = 0;
  // Without its last piece it is not taken for the file.
  let last: Buffer | undefined;
  for (;;) {
    const said = await channel.next();
    if (said.is === 'data') {
      if (last) yield last;
      hash.update(said.data);
      bytes += said.data.length;
      last = said.data;
      observer.moved?.(said.data.length);
    } else if (said.is === 'broken') {
      throw received(said.error);
    } else if (said.is === 'again') {
      throw new HoldfastError('file_changed', { got: shown(name), attempts: 1 });
    } else if (said.is === 'sum') {
      const own = hash.digest('hex');
      if (own !== said.sha256 || bytes !== said.bytes)
        throw new HoldfastError('checksum_mismatch', { got: own, allowed: said.sha256, path: shown(name) });
      if (last) yield last;
      await channel.send({ is: 'done', n, sha256: own });
      await channel.send({ is: 'ended' });
      observer.ended?.({ is: 'done', path: name, kind: 'file', bytes, sha256: own });
      return;
    }
  }
}
