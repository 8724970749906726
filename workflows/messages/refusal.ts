// Turns catalogue errors into the failures with which Temporal rejects a message.
import type { z } from 'zod/mini';
import {
  HoldfastError,
  type CodeAndFacts,
  type ErrorCode,
  type ErrorFacts,
} from '../../contracts/errors/holdfast-error';
import { asFailure, toFailure } from '../../contracts/errors/failure';
import type { Message } from '../../contracts/messages/message';
import { parseWith } from '../../contracts/schemas/parse';
import { parseRequest } from '../../contracts/schemas/parse-request';

/** The checked value; a fault fails the update or the workflow with `invalid_input`. */
export const checked = <T>(schema: z.ZodMiniType<T>, what: string, value: unknown): T =>
  asFailure(() => parseWith(schema, what, value));

/** What a message carries, checked as its table says. */
export const checkedRequest = <Request>(message: Message<Request, unknown, never>, value: unknown): Request =>
  asFailure(() => parseRequest(message, value));

export function refuse(...args: CodeAndFacts): never {
  throw toFailure(new HoldfastError(...args));
}

/** Refuses with an error that was made elsewhere. */
export function refuseAs({ code, facts }: { code: ErrorCode; facts: ErrorFacts }): never {
  throw toFailure(HoldfastError.received(code, facts));
}
