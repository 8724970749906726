// What came of each entry of a transfer, on the side that a person or a program looks at.
import type { Entry, Name, ToldError } from './transfer-messages';

export type Outcome =
  | { is: 'done'; path: Name; kind: Entry['kind']; bytes: number; sha256: string | null }
  | { is: 'skipped'; path: Name; why: string }
  | { is: 'failed'; path: Name; error: ToldError };

export interface Observer {
  /** A file begins, or begins again; null: its size is known at its end. */
  began?(path: Name, size: number | null): void;
  /** Bytes that went over the connection. */
  moved?(bytes: number): void;
  /** Bytes that were there already. */
  wasThere?(bytes: number): void;
  ended?(outcome: Outcome): void;
}

export const under = (path: Name, name: Name): Name => (path === '' ? name : `${path}/${name}`);
