// Watches, while a command runs, whether its foreground waits for typing.
import type { Waiting } from '../../../contracts/sessions/session';
import { lineSettings } from '../shell/line-settings';
import type { Shell } from '../shell/shell';
import { sampleWaiting } from './waiting';

const FIRST_MS = 50;
const CONFIRM_MS = 100;
const SLOWEST_MS = 1_000;

export class WaitingWatch {
  current: Waiting | null = null;
  /** When the current wait was confirmed, in milliseconds since the Unix epoch. */
  since = 0;
  private timer: NodeJS.Timeout | undefined;
  private delayMs = FIRST_MS;
  private fingerprint: string | undefined;
  private round = 0;

  constructor(
    private readonly shell: Shell,
    private readonly onChange: () => void,
  ) {}

  /** Restarts: something was printed or typed. */
  touch(): void {
    this.round += 1;
    this.fingerprint = undefined;
    this.delayMs = FIRST_MS;
    this.set(null);
    this.schedule(FIRST_MS);
  }

  stop(): void {
    this.round += 1;
    clearTimeout(this.timer);
    this.current = null;
  }

  private schedule(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(this.round), ms);
  }

  private async check(round: number): Promise<void> {
    const tty = this.shell.ttyPath;
    const sample = tty ? sampleWaiting(this.shell.leader, tty) : undefined;
    const isSteady = sample !== undefined && sample.fingerprint === this.fingerprint;
    this.fingerprint = sample?.fingerprint;
    if (isSteady && tty && this.current?.certainty !== sample.certainty) {
      const { echo, canonical } = await lineSettings(tty);
      if (round !== this.round) return;
      this.since = Date.now();
      // A program that edits lines itself (readline) also echoes them: only a line without echo is a password prompt.
      const since = new Date(this.since).toISOString();
      this.set({ echo: echo || !canonical, certainty: sample.certainty, since });
    } else if (!sample) {
      this.set(null);
    }
    this.schedule(sample && !isSteady ? CONFIRM_MS : this.delayMs);
    this.delayMs = Math.min(this.delayMs * 2, SLOWEST_MS);
  }

  private set(waiting: Waiting | null): void {
    if (waiting === this.current) return;
    this.current = waiting;
    this.onChange();
  }
}
