// The ids of recent inputs, keys and resets, to detect repeats. An id is bound to its content: other content under the same
// id is refused as `id_conflict`.
import { createHash } from 'node:crypto';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { InputRequestFrame } from '../protocol';

const REMEMBERED = 10_000;

class Remembered<T> {
  private readonly known = new Map<string, { hash: string; value: T }>();

  /** Throws `id_conflict`. */
  find(id: string, content: unknown): T | undefined {
    const found = this.known.get(id);
    if (found && found.hash !== hashOf(content)) throw new HoldfastError('id_conflict', { got: id });
    return found?.value;
  }

  add(id: string, content: unknown, value: T): void {
    this.known.set(id, { hash: hashOf(content), value });
    const oldest = this.known.keys().next().value;
    if (this.known.size > REMEMBERED && oldest !== undefined) this.known.delete(oldest);
  }

  remove(id: string): void {
    this.known.delete(id);
  }
}

interface Input {
  /** Where the log ended before it. */
  at: number;
  /** Rejects if it is not typed after all. */
  typed: Promise<void>;
}

export class RememberedInputs {
  private readonly known = new Remembered<Input>();

  /**
   * Where the log ended before the input was typed. A repetition types nothing and ends like the first one, which may not
   * be typed yet. Throws `id_conflict`, and what `type` throws.
   */
  async once(input: InputRequestFrame, type: () => Input): Promise<number> {
    const before = this.known.find(input.id, contentOf(input));
    const { at, typed } = before ?? type();
    if (!before) this.known.add(input.id, contentOf(input), { at, typed });
    try {
      await typed;
    } catch (err) {
      this.known.remove(input.id);
      throw err;
    }
    return at;
  }
}

/** What people typed, who send it again if their connection ended before the answer. */
export class RememberedKeys {
  private readonly typed = new Remembered<true>();

  /** Throws `id_conflict`. */
  wasTyped(id: string, bytes: string): boolean {
    return this.typed.find(id, bytes) ?? false;
  }

  add(id: string, bytes: string): void {
    this.typed.add(id, bytes, true);
  }
}

export class RememberedResets {
  private readonly done = new Remembered<true>();

  /** True the first time. Throws `id_conflict`. */
  isFirst(id: string, reason: string | null): boolean {
    if (this.done.find(id, reason)) return false;
    this.done.add(id, reason, true);
    return true;
  }
}

const contentOf = ({ text, enter = true, keys }: InputRequestFrame): unknown => [text, enter, keys];

/** The input may be a password: its hash is kept in memory only. */
const hashOf = (content: unknown): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('base64');
