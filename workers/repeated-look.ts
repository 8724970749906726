// Repeats a check, with a pause between the end of one and the start of the next.
import { setTimeout as delay } from 'node:timers/promises';
import { reasonOf } from '../contracts/errors/holdfast-error';

const EVERY_MS = 15_000;
/** The server may be unreachable: a worker that is asked to stop is killed after a while. */
const END_MS = 2_500;

export class RepeatedLook {
  private timer: NodeJS.Timeout | undefined;
  private lastFault: string | undefined;
  private current: Promise<void> = Promise.resolve();

  /** `failed` is called when a look fails differently from the one before. */
  constructor(
    private readonly look: () => Promise<unknown>,
    private readonly failed: (reason: string) => void,
    private readonly everyMs = EVERY_MS,
  ) {}

  /** The first look also waits for the interval, unless `now` is set. */
  start({ now = false } = {}): void {
    this.timer = setTimeout(
      () => {
        this.current = this.look()
          .then(
            () => (this.lastFault = undefined),
            (err: unknown) => this.report(reasonOf(err)),
          )
          .finally(() => this.timer && this.start());
      },
      now ? 0 : this.everyMs,
    );
  }

  private report(reason: string): void {
    if (reason !== this.lastFault) this.failed(reason);
    this.lastFault = reason;
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /**
   * Stops, and resolves when a look that had begun has ended, so that it cannot undo what comes next, or after a few seconds.
   * Not to be called in a look.
   */
  async end(): Promise<void> {
    this.stop();
    await Promise.race([this.current, delay(END_MS, undefined, { ref: false })]);
  }
}
