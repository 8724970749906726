// What a person has typed and the gateway has not answered, in the order of the keys. It belongs to the program that was on
// the screen then. Pure but for the clock.
import type { FromClient } from '../../contracts/gateway/terminal';

type Input = Extract<FromClient, { kind: 'input' }>;

/** The largest input that a gateway takes. */
const CHUNK_BYTES = 48 * 1024;
/** Keys that were meant for what was on the screen then are not typed later than this. */
const LATEST_MS = 10_000;
/** What is spread into arguments must stay far below the limits of browsers. */
const SPREAD_BYTES = 8 * 1024;

interface Keys {
  input: Input;
  /** Milliseconds since the Unix epoch. */
  at: number;
  isSent: boolean;
}

export class WaitingKeys {
  private readonly keys = new Map<string, Keys>();

  /** @param command the id of the running command, for which they are */
  add(text: string, command: string): void {
    const bytes = new TextEncoder().encode(text);
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
      const id = crypto.randomUUID();
      const data = base64(bytes.subarray(from, from + CHUNK_BYTES));
      this.keys.set(id, { input: { kind: 'input', id, data, command }, at: Date.now(), isSent: false });
    }
  }

  /**
   * Those to send now. No more than one chunk is under way: of a long paste that breaks off, nothing is typed that comes
   * after the break.
   */
  next(): Input[] {
    const sizeOf = ({ input }: Keys): number => input.data.length;
    const all = [...this.keys.values()];
    let underWay = all.filter(({ isSent }) => isSent).reduce((sum, one) => sum + sizeOf(one), 0);
    const inputs: Input[] = [];
    for (const one of all.filter(({ isSent }) => !isSent)) {
      if (underWay > 0 && underWay + sizeOf(one) > (CHUNK_BYTES * 4) / 3) break;
      underWay += sizeOf(one);
      one.isSent = true;
      inputs.push(one.input);
    }
    return inputs;
  }

  /** All may be sent again: the same id is typed once. */
  sendAgain(): void {
    for (const one of this.keys.values()) one.isSent = false;
  }

  /** Why a new connection must not send them. Null: it may, or there are none. */
  doubt(running: string | null): 'late' | 'other program' | null {
    const all = [...this.keys.values()];
    if (all.some(({ input }) => input.command !== running)) return 'other program';
    // All or none: the end of a line that somebody typed must not stand alone.
    return all.some(({ at }) => Date.now() - at > LATEST_MS) ? 'late' : null;
  }

  /** False if it was dropped before. */
  answered(id: string): boolean {
    return this.keys.delete(id);
  }

  /** Whether there were any. */
  drop(): boolean {
    const had = this.keys.size > 0;
    this.keys.clear();
    return had;
  }
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let from = 0; from < bytes.length; from += SPREAD_BYTES)
    text += String.fromCharCode(...bytes.subarray(from, from + SPREAD_BYTES));
  return btoa(text);
}
