// Who gets each change of a session.
export class Changes {
  private readonly checks = new Set<() => void>();

  /** Calls `check` after each change, until the returned function is called. */
  onChange(check: () => void): () => void {
    this.checks.add(check);
    return () => void this.checks.delete(check);
  }

  /** One that throws is dropped: the others must hear of the change, a command's end above all. */
  notify(): void {
    for (const check of [...this.checks]) {
      try {
        check();
      } catch (err) {
        this.checks.delete(check);
        console.error(new Date().toISOString(), err);
      }
    }
  }
}
