// Turns catalogue errors into the failures with which Temporal rejects a message.
import type { z } from 'zod/mini';
import {
  HoldfastError,
  type CodeAndFacts,
  type ErrorCode,
  type ErrorFacts,
} from '../../contracts/errors/holdfast-error';
import { toFailure } from '../../contracts/errors/failure';
import { parseWith } from '../../contracts/schemas/parse';

/** The checked value; a fault fails the update or the workflow with `invalid_input`, which never shows a `secret`. */
export function checked<T>(schema: z.ZodMiniType<T>, what: string, value: unknown, secret = false): T {
  try {
    return parseWith(schema, what, value, secret);
  } catch (err) {
    throw err instanceof HoldfastError ? toFailure(err) : err;
  }
}

export function refuse(...args: CodeAndFacts): never {
  throw toFailure(new HoldfastError(...args));
}

/** Refuses with an error that was made elsewhere. */
export function refuseAs({ code, facts }: { code: ErrorCode; facts: ErrorFacts }): never {
  throw toFailure(HoldfastError.received(code, facts));
}
