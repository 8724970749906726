// The shape of an entry in the error catalogue.

/** Shown in the message, so it must not be a secret. */
export type Fact = string | number | boolean | null;
/** The details of an error. */
export type ErrorFacts = Readonly<Record<string, Fact | undefined>>;
/** Details of which some are always shown: without them the error does not compile. */
export type With<Names extends string> = ErrorFacts & Readonly<Record<Names, Fact>>;

/**
 * What is known about the effect of the request wherever the code is thrown. `none`: it has not begun and never will;
 * only then may a message say that nothing was run. `possible`: it may have begun, or may still begin. `happened`: it
 * is done.
 */
export type ErrorEffect = 'none' | 'possible' | 'happened';

export interface ErrorEntry<Facts extends ErrorFacts = ErrorFacts> {
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable: boolean;
  /** Decided by the facts where the code is thrown both before and after the effect. */
  effect(facts: ErrorFacts): ErrorEffect;
  /** Exit code of the command line: from sysexits, always above 63. */
  readonly exitCode: number;
  /** What failed, what was given, what is allowed. */
  message(facts: Facts): string;
  /** What to do now. */
  next(facts: Facts): string;
}

/** The effect comes before the texts: an entry that omits it does not compile. */
type EntryParts<Facts> = [
  exitCode: number,
  retryable: boolean,
  effect: ErrorEffect | ((facts: ErrorFacts) => ErrorEffect),
  message: (facts: Facts) => string,
  next: (facts: Facts) => string,
];

export const entry = <Facts extends ErrorFacts = ErrorFacts>(
  ...[exitCode, retryable, effect, message, next]: EntryParts<Facts>
): ErrorEntry<Facts> => ({
  exitCode,
  retryable,
  effect: (facts) => (typeof effect === 'string' ? effect : effect(facts)),
  message,
  next,
});

/** Stands for a fact in a text, to see where it is shown. */
const MARK = '\0';

/**
 * The message and the next step. A fact that they show and that is missing, since no compiler has checked the code that
 * made the error, is named in its place.
 */
export function textsOf(e: ErrorEntry, facts: ErrorFacts): { message: string; next: string } {
  const texts = { message: e.message(facts), next: e.next(facts) };
  if (!`${texts.message}${texts.next}`.includes('undefined')) return texts;
  const whole = { ...facts };
  for (const name of absentFacts(e, facts)) if (isShown(e, facts, name)) whole[name] = `(no "${name}" given)`;
  return { message: e.message(whole), next: e.next(whole) };
}

/** Those that the texts ask for. */
function absentFacts(e: ErrorEntry, facts: ErrorFacts): Set<string> {
  const absent = new Set<string>();
  const watched = new Proxy(facts, {
    get(_facts, name) {
      if (typeof name === 'string' && facts[name] === undefined) absent.add(name);
      return facts[String(name)];
    },
  });
  e.message(watched);
  e.next(watched);
  return absent;
}

/** Whether a text shows the fact, whatever it is: one that is optional changes what is around it. */
function isShown(e: ErrorEntry, facts: ErrorFacts, name: string): boolean {
  const marked = { ...facts, [name]: MARK };
  return (['message', 'next'] as const).some((text) => {
    const shown = e[text](marked);
    return shown.includes(MARK) && shown.replaceAll(MARK, 'undefined') === e[text](facts);
  });
}

/** Ends text that came from elsewhere, where it does not end itself. */
export function sentence(text: ErrorFacts[string]): string {
  const trimmed = String(text).trim();
  return /[.?!]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
