// What an entry of the error catalogue is.

/** What an error speaks of; values are shown in the message, so they must not hold secrets. */
export type ErrorFacts = Readonly<Record<string, string | number | boolean | null | undefined>>;

/**
 * What is known, wherever the code is thrown, of the effect of what was asked for. `none`: it has not begun and will
 * not; only then a message may say that nothing was run. `possible`: it may have begun, or may still. `happened`: it
 * is done.
 */
export type ErrorEffect = 'none' | 'possible' | 'happened';

export interface ErrorEntry {
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable: boolean;
  /** By the facts where the code is thrown before and after. */
  effect(facts: ErrorFacts): ErrorEffect;
  /** Exit code of the command line: sysexits, always above 63. */
  readonly exitCode: number;
  /** What failed, what was given, what is allowed. */
  message(facts: ErrorFacts): string;
  /** What to do now. */
  next(facts: ErrorFacts): string;
}

type Text = (facts: ErrorFacts) => string;
/** What is known of the effect stands before the texts: an entry that does not say it does not compile. */
type EntryParts = [
  exitCode: number,
  retryable: boolean,
  effect: ErrorEffect | ((facts: ErrorFacts) => ErrorEffect),
  message: Text,
  next: Text,
];

export const entry = (...[exitCode, retryable, effect, message, next]: EntryParts): ErrorEntry => ({
  exitCode,
  retryable,
  effect: (facts) => (typeof effect === 'string' ? effect : effect(facts)),
  message,
  next,
});
