// A reference to a value outside of history.

/** Where a value is stored that is too large for history. */
export interface BlobRef {
  /** Hash of the content, in hexadecimal. */
  sha256: string;
  bytes: number;
  /** Task queue of the worker that has it. */
  at?: string | undefined;
  /** Its name in the team's bucket, `AGENT/HASH`; absent for a file of that worker. */
  object?: string | undefined;
}
