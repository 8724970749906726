// The ids of calls as their provider gave them, where they are not ours: some hold a signature. Pure.
import { createHash } from 'node:crypto';

export class WireIds {
  private readonly byOurs = new Map<string, string>();
  private readonly taken = new Set<string>();

  /** @param isShort of nine letters and digits, which is all that Mistral takes */
  constructor(private readonly isShort: boolean) {}

  /** For a call: the provider's own id, unless another call has it. */
  given(ours: string, own: unknown): string {
    const wanted = typeof own === 'string' && own !== '' && !this.taken.has(own) ? own : ours;
    const id = this.isShort && !SHORT.test(wanted) ? shortOf(ours) : wanted;
    this.taken.add(id);
    this.byOurs.set(ours, id);
    return id;
  }

  /** For its result. */
  of = (ours: string): string => this.byOurs.get(ours) ?? ours;
}

const SHORT = /^[a-zA-Z0-9]{9}$/;

/** The same for the same id: providers cache what they have read. */
const shortOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 9);
