// Every error that a caller can see is thrown as HoldfastError with a code from the catalogue. Pure.
import { CATALOGUE } from './catalogue';
import { asJson } from '../text/as-json';
import { textsOf, type ErrorEffect, type ErrorEntry, type ErrorFacts } from './error-entry';

export type { ErrorEffect, ErrorFacts } from './error-entry';

export type ErrorCode = keyof typeof CATALOGUE;
type FactsOf<Code extends ErrorCode> =
  (typeof CATALOGUE)[Code] extends ErrorEntry<infer Facts> ? Facts : never;
/** A code with the facts that its texts show. */
export type CodeAndFacts = {
  [Code in ErrorCode]: ErrorFacts extends FactsOf<Code>
    ? [code: Code, facts?: ErrorFacts]
    : [code: Code, facts: FactsOf<Code>];
}[ErrorCode];

const NEXT = ' Next: ';

/** An error from the catalogue. `message` holds the whole text, including the next step. */
export class HoldfastError extends Error {
  readonly next: string;
  readonly retryable: boolean;
  /** What is known about the effect of the request. */
  readonly effect: ErrorEffect;
  readonly exitCode: number;
  /** Its page: a path in the package and in the repository. */
  readonly docs: string;

  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(...[code, facts = {}]: CodeAndFacts) {
    // A tool's author may write in JavaScript.
    if (!isErrorCode(code) || !isObject(facts)) throw misuse(code, facts);
    const e: ErrorEntry = CATALOGUE[code];
    const { message, next } = textsOf(e, facts);
    super(`${message}${NEXT}${next}`);
    this.name = 'HoldfastError';
    this.code = code;
    this.facts = facts;
    this.next = next;
    this.retryable = e.retryable;
    this.effect = e.effect(facts);
    this.exitCode = e.exitCode;
    this.docs = `docs/errors.md#${code}`;
  }

  /** What failed, what was given and what is allowed: the message without the next step. */
  get detail(): string {
    return this.message.slice(0, -(NEXT.length + this.next.length));
  }

  /** An error that was made elsewhere: in another process, which may be of another release, or in a file. */
  static received(code: ErrorCode, given: ErrorFacts = {}): HoldfastError {
    const facts = isObject(given) ? given : {};
    if (!isErrorCode(code))
      return new HoldfastError('internal', {
        reason: `${asJson(code)} of another release: ${asJson(given)}`,
      });
    return new HoldfastError(...([code, facts] as unknown as CodeAndFacts));
  }

  /** The same error with more, or other, facts. */
  withFacts(facts: ErrorFacts): HoldfastError {
    return HoldfastError.received(this.code, { ...this.facts, ...facts });
  }

  /** As the outcome of a tool call, for scripts in any language to catch. */
  toOutcome(): { ok: false; error: { code: ErrorCode; message: string; retryable: boolean } } {
    const { code, message, retryable } = this;
    return { ok: false, error: { code, message, retryable } };
  }

  /** The form in which errors reach programs (`--json`) and cross process boundaries. */
  toJSON(): Pick<HoldfastError, 'code' | 'message' | 'next' | 'retryable' | 'effect' | 'facts' | 'docs'> {
    const { code, message, next, retryable, effect, facts, docs } = this;
    return { code, message, next, retryable, effect, facts, docs };
  }

  /** The form in which errors are part of a result. */
  toData(): Pick<HoldfastError, 'code' | 'message' | 'facts' | 'docs'> {
    return { code: this.code, message: this.message, facts: this.facts, docs: this.docs };
  }
}

export const ERROR_CODES = Object.keys(CATALOGUE) as readonly ErrorCode[];

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(CATALOGUE, value);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** A plain error: what the code that made it had done by then is not known, as with any other fault of it. */
const misuse = (code: unknown, facts: unknown): Error =>
  new Error(
    `A HoldfastError cannot be made: got the code ${asJson(code)} with the facts ${asJson(facts)}, allowed a code of ` +
      'docs/errors.md, such as invalid_input or not_found, with an object of its facts.' +
      `${NEXT}Throw an Error with a text of your own, or a HoldfastError with a code of that page.`,
  );

/** Itself, or `internal` for an unforeseen error. */
export const asHoldfastError = (err: unknown): HoldfastError =>
  err instanceof HoldfastError ? err : new HoldfastError('internal', { reason: reasonOf(err) });

/** The text of any thrown value, for use inside `reason` facts. */
export function reasonOf(err: unknown): string {
  return err instanceof Error ? err.message : String(err);
}
