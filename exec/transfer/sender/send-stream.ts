// Sends one file whose bytes come from somewhere else than a file: standard input, or the body of a request.
import { createHash } from 'node:crypto';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { Answers } from '../receiver/receiver-answers';
import { ChannelLost, type Channel } from '../channel';
import type { Name } from '../transfer-messages';
import { shown } from '../names';
import type { Observer, Outcome } from '../outcomes';

export interface SendStreamOptions {
  /** The file's name where the target is a folder. */
  name: Name;
  data: AsyncIterable<Buffer>;
  /** Null: known at the end. */
  size: number | null;
  /** Of the whole content, in hexadecimal: then the transfer can be resumed, and the sum is checked. */
  sha256?: string | undefined;
  /** `data` begins with this byte; the receiver must have those before. */
  offset?: number;
  observer?: Observer;
}

/** The id of a content whose sum is known. */
export const idOfSum = (sha256: string): string => sha256.slice(0, 20);

/** Throws `ChannelLost`, `checksum_mismatch`, and `upload_offset` if the receiver has fewer bytes than `offset`. */
export async function sendStream(channel: Channel, options: SendStreamOptions): Promise<Outcome> {
  let outcome: Outcome | undefined;
  const observer: Observer = {
    ...options.observer,
    ended: (ended) => {
      outcome = ended;
      options.observer?.ended?.(ended);
    },
  };
  const answers = new Answers(channel, observer);
  try {
    await sendFile(channel, answers, options);
    await channel.send({ is: 'end' });
    await answers.all();
  } catch (err) {
    throw err instanceof ChannelLost ? await answers.better(err) : err;
  }
  if (!outcome) throw new ChannelLost('it does not say what came of the file');
  return outcome;
}

async function sendFile(
  channel: Channel,
  answers: Answers,
  { name, data, size, sha256, offset = 0, observer }: SendStreamOptions,
): Promise<void> {
  const n = 0;
  const isResumable = sha256 !== undefined && size !== null;
  answers.expect(n, { path: name, kind: 'file', bytes: size ?? 0, mode: 0 });
  const id = isResumable ? { id: idOfSum(sha256) } : {};
  await channel.send({ is: 'entry', n, name, kind: 'file', mode: 0, isModeless: true, size, ...id });
  observer?.began?.(name, size);
  if (isResumable) {
    const answer = await answers.of(n);
    if (answer.is !== 'from') return;
    if (answer.offset < offset)
      throw new HoldfastError('upload_offset', { got: offset, allowed: answer.offset, path: shown(name) });
    await channel.send({ is: 'go', n, offset });
  }
  const hash = createHash('sha256');
  let bytes = offset;
  for await (const piece of wantedOf(data, answers, n)) {
    hash.update(piece);
    await channel.sendData(piece);
    observer?.moved?.(piece.length);
    bytes += piece.length;
  }
  if (!answers.isWanted(n)) return;
  answers.setBytes(n, bytes);
  // Bytes that came earlier are known only by the given sum.
  await channel.send({ is: 'sum', n, sha256: sha256 ?? hash.digest('hex'), bytes });
}

/** The pieces, as long as the receiver wants them: it may refuse them, or go, while none comes. Throws like `isWanted`. */
async function* wantedOf(data: AsyncIterable<Buffer>, answers: Answers, n: number): AsyncGenerator<Buffer> {
  const pieces = data[Symbol.asyncIterator]();
  let wake = (): void => undefined;
  void answers.settled(n).then(() => wake());
  try {
    while (answers.isWanted(n)) {
      // A promise for each piece: one that lasted as long as the transfer would keep all of them.
      const next = await new Promise<IteratorResult<Buffer, unknown> | null>((resolve, reject) => {
        wake = () => resolve(null);
        pieces.next().then(resolve, reject);
      });
      if (next?.done) return;
      if (next && answers.isWanted(n)) yield next.value;
    }
  } finally {
    // Ends with the next piece, which may not come.
    pieces.return?.().catch(() => undefined);
  }
}
