// Every error that a caller can see is thrown as HoldfastError with a code from the catalogue. Pure.
import { CATALOGUE } from './catalogue';
import type { ErrorEffect, ErrorEntry, ErrorFacts } from './error-entry';

export type { ErrorEffect, ErrorFacts } from './error-entry';

export type ErrorCode = keyof typeof CATALOGUE;

/** An error from the catalogue. `message` holds the whole text, including the next step. */
export class HoldfastError extends Error {
  readonly next: string;
  readonly retryable: boolean;
  /** What is known about the effect of the request. */
  readonly effect: ErrorEffect;
  readonly exitCode: number;
  /** Its page: a path in the package and in the repository. */
  readonly docs: string;

  constructor(
    readonly code: ErrorCode,
    readonly facts: ErrorFacts = {},
  ) {
    const e: ErrorEntry = CATALOGUE[code];
    const next = e.next(facts);
    super(`${e.message(facts)} Next: ${next}`);
    this.name = 'HoldfastError';
    this.next = next;
    this.retryable = e.retryable;
    this.effect = e.effect(facts);
    this.exitCode = e.exitCode;
    this.docs = `docs/errors.md#${code}`;
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

/** The text of any thrown value, for use inside `reason` facts. */
export function reasonOf(err: unknown): string {
  return err instanceof Error ? err.message : String(err);
}
