// Parts of a session's output that are not there any more, and what readers are told in their place.

/** `dropped` by the limits of the log, at its head; `truncated` by somebody from outside, anywhere. */
export type MissingCause = 'dropped' | 'truncated';

/** From one offset up to another (exclusive). */
export interface Part {
  from: number;
  to: number;
}

export interface MissingPart extends Part {
  cause: MissingCause;
}

/** One line without its end. `bytes` is for a reader who asked for fewer than the part has, or for several parts. */
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
