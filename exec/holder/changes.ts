// Who is told of each change of a session.
export class Changes {
  private readonly checks = new Set<() => void>();

  /** Calls `check` after each change, until the returned function is called. */
  onChange(check: () => void): () => void {
    this.checks.add(check);
    return () => void this.checks.delete(check);
  }

  notify(): void {
    for (const check of [...this.checks]) check();
  }
}
