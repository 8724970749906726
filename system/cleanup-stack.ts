/** Runs what was deferred, last first, when its scope is left. Node 22 has no `DisposableStack`. */
export class CleanupStack implements Disposable {
  private readonly deferred: (() => void)[] = [];

  defer(cleanup: () => void): void {
    this.deferred.push(cleanup);
  }

  /** Each runs, whatever the others throw. Throws what was thrown first. */
  [Symbol.dispose](): void {
    const failures: unknown[] = [];
    for (const cleanup of this.deferred.splice(0).reverse())
      try {
        cleanup();
      } catch (err) {
        failures.push(err);
      }
    if (failures.length > 0) throw failures[0];
  }
}
