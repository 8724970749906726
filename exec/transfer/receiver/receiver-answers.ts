// What the receiver answers to a sender: heard all the time, so that a refusal ends the sending at once.
import type { Channel } from '../channel';
import type { Entry, Message, Name } from '../transfer-messages';
import { notCopied, type Observer } from '../outcomes';

type Answer = Extract<Message, { is: 'from' | 'done' | 'skipped' | 'failed' }>;

interface Pending {
  path: Name;
  kind: Entry['kind'];
  bytes: number;
  /** The entry's mode. */
  mode: number;
}

export class Answers {
  /** Entries that the receiver has not settled yet. */
  private readonly pending = new Map<number, Pending>();
  private readonly waiting = new Map<
    number,
    { resolve: (answer: Answer) => void; reject: (err: Error) => void }
  >();
  private failure: Error | undefined;
  /** Settles when the receiver is done, or gone. Never rejects. */
  private readonly heard: Promise<void>;

  constructor(
    private readonly channel: Channel,
    private readonly observer: Observer | undefined,
  ) {
    this.heard = this.listen().catch((err: unknown) => {
      this.failure = err as Error;
      for (const { reject } of this.waiting.values()) reject(this.failure);
    });
  }

  expect(n: number, pending: Pending): void {
    this.pending.set(n, pending);
  }

  /** The bytes that an entry turned out to have. */
  setBytes(n: number, bytes: number): void {
    const pending = this.pending.get(n);
    if (pending) pending.bytes = bytes;
  }

  /** The sender has reported it itself. */
  forget(n: number): void {
    this.pending.delete(n);
  }

  /** Whether the receiver wants its bytes. */
  isWanted(n: number): boolean {
    if (this.failure) throw this.failure;
    return this.pending.has(n);
  }

  /** Resolves when the receiver wants no more bytes of an entry, or is gone. Never rejects. */
  async settled(n: number): Promise<void> {
    if (this.pending.has(n)) await this.of(n).catch(() => undefined);
  }

  /** Where the receiver stands. Throws `ChannelLost`, and what the receiver ended the transfer with. */
  of(n: number): Promise<Answer> {
    if (this.failure) return Promise.reject(this.failure);
    return new Promise((resolve, reject) => this.waiting.set(n, { resolve, reject }));
  }

  /** Resolves when all is in place. Throws like `of`. */
  async all(): Promise<void> {
    await this.heard;
    if (this.failure) throw this.failure;
  }

  /** After a failure of this side: what the receiver said explains it better. */
  async better(err: unknown): Promise<unknown> {
    await this.heard;
    return this.failure ?? err;
  }

  private async listen(): Promise<void> {
    for (;;) {
      const said = await this.channel.next();
      if (said.is === 'ended') return;
      if (said.is !== 'from' && said.is !== 'done' && said.is !== 'skipped' && said.is !== 'failed') continue;
      const waiting = this.waiting.get(said.n);
      this.waiting.delete(said.n);
      if (said.is !== 'from') this.settle(said);
      waiting?.resolve(said);
    }
  }

  private settle(said: Extract<Message, { is: 'done' | 'skipped' | 'failed' }>): void {
    const pending = this.pending.get(said.n);
    this.pending.delete(said.n);
    if (!pending) return;
    const { path, kind, bytes, mode } = pending;
    if (said.is === 'done')
      this.observer?.ended?.({
        ...{ is: 'done', path, kind, bytes },
        sha256: kind === 'file' ? said.sha256 : null,
        ...notCopied({ mode, kind }),
      });
    else if (said.is === 'skipped') this.observer?.ended?.({ is: 'skipped', path, why: String(said.why) });
    else this.observer?.ended?.({ is: 'failed', path, error: said.error });
  }
}
