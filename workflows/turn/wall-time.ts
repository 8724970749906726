// The time that a turn may take. Model calls are ended by the server, when their own limit is reached. Tools are not,
// because they may run for longer than an activity: with the first of them, a timer starts.
import { CancellationScope, sleep } from '@temporalio/workflow';

export class WallTime {
  private readonly scope = new CancellationScope();
  private timer: CancellationScope | null = null;

  constructor(private readonly msLeft: () => number) {}

  /** Cancels the work when the timer fires. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.scope.run(work);
    } finally {
      this.timer?.cancel();
    }
  }

  /** Does nothing if the timer runs. */
  start(): void {
    if (this.timer) return;
    this.timer = new CancellationScope({ cancellable: true, parent: this.scope });
    this.timer
      .run(() => sleep(this.msLeft()))
      .then(
        () => this.scope.cancel(),
        // The work is over.
        () => undefined,
      );
  }
}
