// The ids of what was typed lately, each for "typed before".
const REMEMBERED_INPUTS = 10_000;

export class RememberedInputs {
  private readonly places = new Map<string, number>();

  /** Where the log ended when it was typed; undefined for one that was not, or long ago. */
  placeOf(id: string): number | undefined {
    return this.places.get(id);
  }

  add(id: string, at: number): void {
    this.places.set(id, at);
    const oldest = this.places.keys().next().value;
    if (this.places.size > REMEMBERED_INPUTS && oldest !== undefined) this.places.delete(oldest);
  }

  /** It was not typed after all. */
  remove(id: string): void {
    this.places.delete(id);
  }
}
