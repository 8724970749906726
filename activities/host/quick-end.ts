// A command that ends within moments is answered by the activity that began it, like any other: nothing is journalled
// for it, and no second request is sent. One that lasts leaves its activity and is completed outside the worker's slots.
import type { CommandView } from '../../contracts/sessions/session';

/** Most commands of agents have ended by then; a slot of the worker is held for no longer. */
const QUICK_MS = 50;

export class QuickEnd {
  /** What the activity answers with; null once it leaves the command to others. */
  readonly answer: Promise<CommandView | null>;
  private decide: ((answer: CommandView | null) => void) | undefined;

  constructor() {
    this.answer = new Promise((resolve) => {
      const timer = setTimeout(() => this.leave(), QUICK_MS);
      this.decide = (answer) => {
        clearTimeout(timer);
        this.decide = undefined;
        resolve(answer);
      };
    });
  }

  /** False if the activity waits no longer: then the end must reach the server in another way. */
  take(view: CommandView): boolean {
    const waits = this.decide !== undefined;
    this.decide?.(view);
    return waits;
  }

  leave(): void {
    this.decide?.(null);
  }
}
