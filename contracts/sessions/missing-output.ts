// Parts of a session's output that no longer exist, and what readers get instead.

/** `dropped` by the log's limits, at its head; `truncated` from outside, anywhere. */
export type MissingCause = 'dropped' | 'truncated';

/** From one offset up to another (exclusive). */
export interface Part {
  from: number;
  to: number;
}

export interface MissingPart extends Part {
  cause: MissingCause;
}

/** One line without a newline. `bytes` is for a reader who asked for less than the part, or for several parts. */
export function missingNote(
  { cause, from, to }: MissingPart,
  { bytes = to - from, more = '' }: { bytes?: number; more?: string } = {},
): string {
  switch (cause) {
    case 'dropped':
      return `[${bytes} bytes dropped by the limits of the log, which now begins at offset ${to}${more}]`;
    case 'truncated':
      return `[${bytes} bytes are lost: the log was truncated or deleted${more}]`;
  }
}
