// Checks what a message carries against the schema that its table names.
import type { Message } from '../messages/message';
import { parseWith } from './parse';
import * as schemas from './requests';
import type { z } from './zod';

/** The checked request; unchecked if the message names no schema. Throws `invalid_input`. */
export function parseRequest<Request>(
  { request }: Message<Request, unknown, never>,
  value: unknown,
): Request {
  if (!request) return value as Request;
  // The table compiles only if the schema accepts nothing but such requests.
  const schema = schemas[request.schema] as z.ZodMiniType<Request>;
  return parseWith(schema, request.what, value, request.isSecret);
}
