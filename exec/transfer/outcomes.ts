// What came of each entry of a transfer, on the side that a person or a program looks at.
import type { Entry, Name, SentError } from './transfer-messages';

export type Outcome =
  | {
      is: 'done';
      path: Name;
      kind: Entry['kind'];
      bytes: number;
      sha256: string | null;
      /** Special permissions that stay behind; absent if it has none. */
      notCopied?: string[];
    }
  | { is: 'skipped'; path: Name; why: string }
  | { is: 'failed'; path: Name; error: SentError };

export interface Observer {
  /** A file begins, or begins again; null: its size is known at its end. */
  began?(path: Name, size: number | null): void;
  /** Bytes that went over the connection. */
  moved?(bytes: number): void;
  /** Bytes that were there already. */
  wasThere?(bytes: number): void;
  ended?(outcome: Outcome): void;
}

const SPECIAL: readonly (readonly [bit: number, name: string, of: Entry['kind'][]])[] = [
  [0o4000, 'set-user-ID', ['file']],
  [0o2000, 'set-group-ID', ['file', 'folder']],
  [0o1000, 'sticky', ['folder']],
];

/**
 * What an entry's mode has beyond permissions. It is not copied: who receives a file owns it, and a program that runs as its
 * owner would run as somebody else than before.
 */
export function notCopied({ mode, kind, isModeless }: Pick<Entry, 'mode' | 'kind' | 'isModeless'>): {
  notCopied?: string[];
} {
  const names = isModeless ? [] : SPECIAL.filter(([bit, , of]) => mode & bit && of.includes(kind));
  return names.length > 0 ? { notCopied: names.map(([, name]) => name) } : {};
}

export const under = (path: Name, name: Name): Name => (path === '' ? name : `${path}/${name}`);
