// The output of a terminal, and the reports of its shell that wait for it: output and reports are separate streams, so
// the driver prints a fence where a report belongs.
import { FenceFilter } from './fence';

/** How long a report waits for its fence when the terminal holds back output. */
const FENCE_MS = 2_000;

export class FencedOutput {
  /** The terminal is not read: a fence waits in the kernel behind the earlier output. */
  isPaused = false;
  /** That have arrived so far, fences included. */
  bytes = 0;
  private readonly filter: FenceFilter;
  private fences = 0;
  private due: (() => void) | null = null;
  private timer: NodeJS.Timeout | undefined;
  private lastLook: NodeJS.Immediate | undefined;

  constructor(
    fence: string,
    private readonly deliver: (data: Buffer) => void,
  ) {
    this.filter = new FenceFilter(Buffer.from(fence));
  }

  push(chunk: Buffer): void {
    this.bytes += chunk.length;
    const { data, fences } = this.filter.push(chunk);
    if (data.length > 0) this.deliver(data);
    this.fences += fences;
    if (fences > 0) this.due?.();
  }

  /** Fences that have come belong to what was before. */
  beginAgain(): void {
    this.fences = 0;
  }

  /** Runs `report` once the output before it has arrived, after an earlier one that still waits. */
  afterFence(report: () => void): void {
    const earlier = this.due;
    this.stopWaiting();
    this.due = () => {
      this.stopWaiting();
      earlier?.();
      report();
    };
    this.wait();
    if (this.fences > 0) this.due();
  }

  private wait(): void {
    this.timer = setTimeout(() => {
      if (this.isPaused) return this.wait();
      // This process may have been suspended itself: read first what has arrived meanwhile.
      this.lastLook = setImmediate(() => this.due?.());
    }, FENCE_MS);
  }

  /** No more output arrives: delivers what might have been the beginning of a fence, and makes the report that waits. */
  end(): void {
    const rest = this.filter.flush();
    if (rest.length > 0) this.deliver(rest);
    this.due?.();
  }

  private stopWaiting(): void {
    clearTimeout(this.timer);
    clearImmediate(this.lastLook);
    this.due = null;
  }
}
