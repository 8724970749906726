// Lets the rest of the process run while a long piece of work is done in it.
import { setImmediate as turn } from 'node:timers/promises';

const SLICE_MS = 6;

/** To be called often: waits only if this process has worked without a pause for long enough. */
export class Breather {
  private since = performance.now();

  async breathe(): Promise<void> {
    if (performance.now() - this.since < SLICE_MS) return;
    await turn();
    this.since = performance.now();
  }
}
