// What is known of runs that are over, and therefore stays true. Bounded: what was learnt first is forgotten first.

const MAX_REMEMBERED = 10_000;

export class RememberedRuns<Known> {
  private readonly known = new Map<string, Known>();

  constructor(private readonly most = MAX_REMEMBERED) {}

  get(runId: string): Known | undefined {
    return this.known.get(runId);
  }

  set(runId: string, known: Known): void {
    const [oldest] = this.known.keys();
    if (this.known.size >= this.most && oldest !== undefined) this.known.delete(oldest);
    this.known.set(runId, known);
  }
}
