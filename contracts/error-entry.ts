// What an entry of the error catalogue is.

/** What an error speaks of; values are shown in the message, so they must not hold secrets. */
export type ErrorFacts = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface ErrorEntry {
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable: boolean;
  /** Exit code of the command line: sysexits, always above 63. */
  readonly exitCode: number;
  /** What failed, what was given, what is allowed. */
  message(facts: ErrorFacts): string;
  /** What to do now. */
  next(facts: ErrorFacts): string;
}

export const entry = (
  exitCode: number,
  retryable: boolean,
  message: (f: ErrorFacts) => string,
  next: (f: ErrorFacts) => string,
): ErrorEntry => ({ exitCode, retryable, message, next });
