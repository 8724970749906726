// Which refusals get a line in the audit log. A stranger may be refused as often as they like: with a line for each, they
// would push every change out of the log. In an hour the first hundred of a source get one, then each that doubles their
// number. So a flood is in the log with its size, and costs a few lines.

const LINES = 100;
const WINDOW_MS = 3_600_000;
const MAX_SOURCES = 50;
/** Counted together, once there are too many. */
const OTHERS = '';

export class RefusalCount {
  private readonly windows = new Map<string, { since: number; count: number }>();

  constructor(private readonly now: () => number = Date.now) {}

  /** Counts one refusal, and says whether it gets a line; `refusals` is their number, once not each has got one. */
  add(source: string): { hasLine: boolean; refusals?: number } {
    const window = this.windowOf(source);
    const count = ++window.count;
    if (count <= LINES) return { hasLine: true };
    return { hasLine: Number.isInteger(Math.log2(count / LINES)), refusals: count };
  }

  private windowOf(source: string): { since: number; count: number } {
    const now = this.now();
    for (const [key, { since }] of this.windows) if (now - since >= WINDOW_MS) this.windows.delete(key);
    const key = this.windows.has(source) || this.windows.size < MAX_SOURCES ? source : OTHERS;
    const window = this.windows.get(key) ?? { since: now, count: 0 };
    this.windows.set(key, window);
    return window;
  }
}
