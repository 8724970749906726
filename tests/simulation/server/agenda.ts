// Time and order of a simulated world: what may happen next, and what is due when. Nothing happens by itself: a schedule
// picks, so that the same picks make the same history.

/** Something whose end takes what it was about to do with it: a process, a connection. */
export interface Life {
  readonly isOver: boolean;
}

interface Happening {
  label: string;
  work: () => void | Promise<void>;
  of: Life | undefined;
}

interface Due extends Happening {
  at: number;
}

/** Takes something back that is not due yet. */
export type TakeBack = () => void;

/** When every world begins, in milliseconds since 1970. */
const BEGINNING_MS = Date.UTC(2026, 0, 1);

export class Agenda {
  nowMs = BEGINNING_MS;
  private ready: Happening[] = [];
  /** Sorted by time; of the same time, in the order in which they were added. */
  private due: Due[] = [];

  /** @param told is called with each thing that happens */
  constructor(private readonly told: (label: string) => void = () => undefined) {}

  /** It may happen from now on, before or after whatever else may. */
  add(label: string, work: Happening['work'], of?: Life): void {
    this.ready.push({ label, work, of });
  }

  /** It happens once so much time has passed. */
  after(ms: number, label: string, work: Happening['work'], of?: Life): TakeBack {
    const entry = { label, work, of, at: this.nowMs + Math.max(0, ms) };
    const place = this.due.findIndex(({ at }) => at > entry.at);
    this.due.splice(place < 0 ? this.due.length : place, 0, entry);
    return () => {
      this.due = this.due.filter((one) => one !== entry);
    };
  }

  /** Lets one of the things happen that may. False if there is none. */
  async pick(which: number): Promise<boolean> {
    this.ready = this.ready.filter(({ of }) => !of?.isOver);
    const [one] = this.ready.splice(which % Math.max(1, this.ready.length), 1);
    if (!one) return false;
    this.nowMs += 1;
    this.told(one.label);
    await one.work();
    return true;
  }

  /** Lets time pass. What is due meanwhile happens at its time. */
  async pass(ms: number): Promise<void> {
    const end = this.nowMs + ms;
    for (let [next] = this.due; next && next.at <= end; [next] = this.due) {
      this.due.shift();
      if (next.of?.isOver) continue;
      this.nowMs = Math.max(this.nowMs, next.at);
      this.told(next.label);
      await next.work();
    }
    this.nowMs = Math.max(this.nowMs, end);
  }

  /** Lets everything happen in its order, and time pass in between, for at most so long. */
  async settle(withinMs: number): Promise<void> {
    const end = this.nowMs + withinMs;
    for (;;) {
      while (await this.pick(0));
      const [next] = this.due;
      if (!next || next.at > end) return;
      await this.pass(next.at - this.nowMs);
    }
  }
}
