// Watches, while a command runs, whether its foreground waits for typing.
import type { Waiting, WaitingCertainty } from '../../../contracts/sessions/session';
import { lineSettings } from '../shell/line-settings';
import type { Shell } from '../shell/shell';
import { sampleWaiting, type WaitingSample } from './waiting';

/** Silence before a program that is alone and blocks in a read is taken for one that waits: it cannot go on. */
const QUICK_MS = 5;
/** The same after a quick look of a moment ago: a program that prints all the time is not looked at each time. */
const AGAIN_MS = 20;
const MOMENT_MS = 100;
/** Silence before the first of two looks at any other, which may be about to do something else. */
const FIRST_MS = 50;
const CONFIRM_MS = 100;
const SLOWEST_MS = 1_000;

export class WaitingWatch {
  current: Waiting | null = null;
  /**
   * When the current wait was confirmed, in milliseconds since the Unix epoch, as people see it. Names the wait: each is
   * later than the one before, even if the clock was set back.
   */
  since = 0;
  /** The same by the steady clock. */
  steadySince = 0;
  private timer: NodeJS.Timeout | undefined;
  private delayMs = FIRST_MS;
  private fingerprint: string | undefined;
  private round = 0;
  private isQuick = false;
  private lookedAt = -Infinity;
  /** What the look had shown that was reported last. */
  private reported: WaitingCertainty | undefined;
  /** The look before something was typed: as long as nothing has run since, its reader may not have been woken yet. */
  private beforeTyping: string | undefined;
  private isTyped = false;

  constructor(
    private readonly shell: Shell,
    private readonly onChange: () => void,
  ) {}

  /** Restarts: something was printed or typed. */
  touch(): void {
    this.round += 1;
    this.fingerprint = undefined;
    this.reported = undefined;
    this.delayMs = FIRST_MS;
    this.set(null);
    this.isQuick = true;
    this.schedule(performance.now() - this.lookedAt < MOMENT_MS ? AGAIN_MS : QUICK_MS);
  }

  /**
   * Something is about to be typed. The kernel hands it to the reader a moment later, on a busy machine much later: until
   * then the program looks like one that waits again.
   */
  typing(): void {
    this.beforeTyping = this.current ? this.look()?.fingerprint : undefined;
    this.isTyped = true;
  }

  stop(): void {
    this.round += 1;
    clearTimeout(this.timer);
    this.current = null;
    this.isTyped = false;
  }

  private schedule(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(this.round), ms);
  }

  private async check(round: number): Promise<void> {
    const sample = this.look();
    if (this.isQuick) {
      this.isQuick = false;
      this.lookedAt = performance.now();
      const isWaiting =
        sample?.isAlone === true && this.hasTaken(sample) && (await this.report(round, sample, true));
      if (round !== this.round) return;
      if (!isWaiting) return this.schedule(FIRST_MS);
    }
    const isSteady = sample !== undefined && sample.fingerprint === this.fingerprint;
    this.fingerprint = sample?.fingerprint;
    if (!sample) {
      this.reported = undefined;
      this.set(null);
    } else if (isSteady && this.reported !== sample.certainty) {
      await this.report(round, sample, false);
      if (round !== this.round) return;
    }
    this.schedule(sample && !isSteady ? CONFIRM_MS : this.delayMs);
    this.delayMs = Math.min(this.delayMs * 2, SLOWEST_MS);
  }

  /** What was typed has woken the program that waited for it. Of one that did not wait nothing can be said. */
  private hasTaken(sample: WaitingSample): boolean {
    if (!this.isTyped) return true;
    return this.beforeTyping !== undefined && this.beforeTyping !== sample.fingerprint;
  }

  private look(): WaitingSample | undefined {
    const { leader, ttyPath } = this.shell;
    return ttyPath ? sampleWaiting(leader, ttyPath) : undefined;
  }

  /**
   * Reports that it waits; false if something happened meanwhile.
   * @param isOnlyLook only if its read has no time limit, and if nothing has run while that was found out
   */
  private async report(round: number, sample: WaitingSample, isOnlyLook: boolean): Promise<boolean> {
    const { ttyPath } = this.shell;
    if (!ttyPath) return false;
    const { echo, canonical, blocks } = await lineSettings(ttyPath);
    if (round !== this.round) return false;
    if (isOnlyLook && !(blocks && this.look()?.fingerprint === sample.fingerprint)) return false;
    this.since = Math.max(Date.now(), this.since + 1);
    this.steadySince = performance.now();
    // A program that edits lines itself (readline) also echoes them: only a line without echo is a password prompt.
    const since = new Date(this.since).toISOString();
    this.reported = sample.certainty;
    this.isTyped = false;
    // A read that ends by itself is like a poll that does: it may be anything.
    const certainty = sample.certainty === 'certain' && !blocks ? 'hint' : sample.certainty;
    this.set({ echo: echo || !canonical, certainty, since });
    return true;
  }

  private set(waiting: Waiting | null): void {
    if (waiting === this.current) return;
    this.current = waiting;
    this.onChange();
  }
}
