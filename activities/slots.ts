// Limits concurrency; others wait in order.

export class Slots {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  /** Does the work when a slot is free. Throws if `over` aborts first. */
  async with<T>(over: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.free === 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.free -= 1;
    try {
      over.throwIfAborted();
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.free += 1;
    }
  }
}
