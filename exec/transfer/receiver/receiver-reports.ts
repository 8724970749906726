// What a receiver says of each entry: to the sender, and to users of this side.
import type { HoldfastError } from '../../../contracts/errors/holdfast-error';
import type { Channel } from '../channel';
import { notCopied, type Observer } from '../outcomes';
import { endsAll, sentError } from '../transfer-errors';
import type { Entry, Message, Name } from '../transfer-messages';

export class ReceiverReports {
  constructor(
    private readonly channel: Channel,
    readonly observer: Observer | undefined,
  ) {}

  /** Throws the error again if it would meet every further file. */
  async fail(entry: Entry, path: Name, error: HoldfastError): Promise<void> {
    await this.answer(entry, path, { is: 'failed', n: entry.n, error: sentError(error) });
    if (endsAll(error)) throw error;
  }

  async answer(
    entry: Entry,
    path: Name,
    answer: Extract<Message, { is: 'done' | 'skipped' | 'failed' }>,
  ): Promise<void> {
    this.observer?.ended?.(
      answer.is === 'done'
        ? { is: 'done', path, kind: entry.kind, bytes: 0, sha256: null, ...notCopied(entry) }
        : answer.is === 'skipped'
          ? { is: 'skipped', path, why: answer.why }
          : { is: 'failed', path, error: answer.error },
    );
    await this.channel.send(answer);
  }
}
