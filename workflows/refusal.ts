// Turns errors of the catalogue into what Temporal rejects a message with.
import type { z } from 'zod/mini';
import { HoldfastError } from '../contracts/errors';
import { toFailure } from '../contracts/failure';
import { parseWith } from '../contracts/schemas/parse';

/** The checked value; a fault ends the update or the workflow with `invalid_input`. */
export function checked<T>(schema: z.ZodMiniType<T>, what: string, value: unknown): T {
  return refusing(() => parseWith(schema, what, value));
}

export function refuse(...args: ConstructorParameters<typeof HoldfastError>): never {
  throw toFailure(new HoldfastError(...args));
}

function refusing<T>(check: () => T): T {
  try {
    return check();
  } catch (err) {
    throw err instanceof HoldfastError ? toFailure(err) : err;
  }
}
