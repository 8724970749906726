// The shape of an entry in the error catalogue.

/** The details of an error. Values are shown in the message, so they must not hold secrets. */
export type ErrorFacts = Readonly<Record<string, string | number | boolean | null | undefined>>;

/**
 * What is known about the effect of the request wherever the code is thrown. `none`: it has not begun and never will;
 * only then may a message say that nothing was run. `possible`: it may have begun, or may still begin. `happened`: it
 * is done.
 */
export type ErrorEffect = 'none' | 'possible' | 'happened';

export interface ErrorEntry {
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable: boolean;
  /** Decided by the facts where the code is thrown both before and after the effect. */
  effect(facts: ErrorFacts): ErrorEffect;
  /** Exit code of the command line: from sysexits, always above 63. */
  readonly exitCode: number;
  /** What failed, what was given, what is allowed. */
  message(facts: ErrorFacts): string;
  /** What to do now. */
  next(facts: ErrorFacts): string;
}

type Text = (facts: ErrorFacts) => string;
/** The effect comes before the texts: an entry that omits it does not compile. */
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

/** Ends text that came from elsewhere, where it does not end itself. */
export function sentence(text: ErrorFacts[string]): string {
  const trimmed = String(text).trim();
  return /[.?!]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
