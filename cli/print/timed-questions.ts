// Asks many workflows within a time that a person likes to wait: a few at once, and no more when the time is over.

/** So many are always asked with patience: within it, each has its turn. */
const FEW = 100;
/** More would only wait for each other, at the server and at its workers, and slow down what these are doing. */
const AT_ONCE = 16;
/** A table must not hang on one workflow whose worker is gone. */
export const ANSWER_MS = 3_000;

export class Questions {
  private readonly inLine: (() => void)[] = [];
  private open = 0;
  private readonly until: number;
  /** Where there is time for all, one that does not answer has no worker. */
  readonly areAllAsked: boolean;

  /** @param until when the time is over, in milliseconds since the Unix epoch, if they are many */
  constructor(count: number, until: number) {
    this.areAllAsked = count <= FEW;
    this.until = this.areAllAsked ? Date.now() + ANSWER_MS : until;
  }

  /** In the order of the calls. Undefined for a question that fails or is not answered in time, or was not asked. */
  async ask<T>(question: () => Promise<T>): Promise<T | undefined> {
    if (this.open === AT_ONCE) await new Promise<void>((resolve) => this.inLine.push(resolve));
    else this.open += 1;
    try {
      const leftMs = this.until - Date.now();
      return leftMs > 0 ? await inTime(question(), leftMs) : undefined;
    } finally {
      const next = this.inLine.shift();
      if (next) next();
      else this.open -= 1;
    }
  }
}

/** Undefined if it fails or takes too long. */
export function inTime<T>(work: Promise<T>, ms = ANSWER_MS): Promise<T | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), ms).unref());
  return Promise.race([work, late]).catch(() => undefined);
}
