// Queries to workflows that may be in a host's own namespace. Anyone with access to that namespace can answer in their place.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { Message } from '../../contracts/messages/message';
import * as schemas from '../../contracts/schemas/answers';
import { z } from '../../contracts/schemas/zod';
import type { Delivery } from '../delivery/deliver';
import { deliverQuery } from '../delivery/send-message';

const SHOWN_FAULTS = 5;

/** As `deliverQuery`. Throws `answer_invalid` for an answer of another shape. */
export async function queryHost<Request, Answer>(
  to: Delivery,
  message: Message<Request, Answer, 'query'>,
  request?: Request,
): Promise<Answer> {
  return parseAnswer(message, to.workflowId, await deliverQuery(to, message, request));
}

/**
 * The answer itself, if it has the shape that its message's table names; keys and words that a newer release has added
 * are no fault. Throws `answer_invalid`.
 * @param from the workflow that gave it
 */
export function parseAnswer<Answer>(
  { answer: name }: Pick<Message<never, Answer, never>, 'answer'>,
  from: string,
  answer: unknown,
): Answer {
  if (!name) return answer as Answer;
  const { error } = z.core.safeParse(schemas[name], answer, { reportInput: true });
  const faults = error?.issues.filter((issue) => !isNewerWord(issue)) ?? [];
  // The table compiles only if the schema is that of such answers.
  if (faults.length === 0) return answer as Answer;
  const places = faults.slice(0, SHOWN_FAULTS).map(({ path }) => `/${path.map(String).join('/')}`);
  throw new HoldfastError('answer_invalid', { what: from, places: places.join(', ') });
}

const isNewerWord = ({ code, input }: z.core.$ZodIssue): boolean =>
  code === 'invalid_value' && typeof input === 'string';
