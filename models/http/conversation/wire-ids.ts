// The ids of calls as their provider gave them, where they are not ours: some hold a signature. Pure.

export class WireIds {
  private readonly byOurs = new Map<string, string>();
  private readonly taken = new Set<string>();

  /** For a call: the provider's own id, unless another call has it. */
  given(ours: string, own: unknown): string {
    const id = typeof own === 'string' && own !== '' && !this.taken.has(own) ? own : ours;
    this.taken.add(id);
    this.byOurs.set(ours, id);
    return id;
  }

  /** For its result. */
  of = (ours: string): string => this.byOurs.get(ours) ?? ours;
}
