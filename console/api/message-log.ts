// The messages of a conversation as they come: drawn together, not one by one, since each drawing costs as much as a look
// at all of them.
import { signal, type Signal } from '@preact/signals';
import type { Message } from '../../contracts/agents/agent';

/** While there is more to come. */
const BURST_MS = 500;
/** What comes by itself. */
const SETTLE_MS = 20;

export class MessageLog {
  /** By index. Another array with each change. */
  readonly shown: Signal<readonly Message[]> = signal([]);
  private readonly all: Message[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private drawAt = 0;

  /** How many there are, as far as is known. */
  expected = 0;

  /** In order and once; from 0 again in another run. */
  add(index: number, message: Message): void {
    this.all.length = Math.min(this.all.length, index);
    this.all.push(message);
    const isBurst = this.all.length < this.expected;
    const now = performance.now();
    // A burst is drawn when it is over, or if it takes long.
    if (this.timer === undefined) this.drawAt = now + (isBurst ? BURST_MS : SETTLE_MS);
    else if (isBurst) return;
    else this.drawAt = Math.min(this.drawAt, now + SETTLE_MS);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.draw(), Math.max(0, this.drawAt - now));
  }

  /** Now, for example before something is shown that comes after all of them. */
  draw(): void {
    clearTimeout(this.timer);
    if (this.timer === undefined) return;
    this.timer = undefined;
    this.shown.value = [...this.all];
  }
}
