// Runs a command in a separate session: the first free one of a list of numbers derived from the call's key.
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { ExecRequest } from '../../contracts/schemas/session';
import type { CommandView } from '../../contracts/sessions/session';
import { refuseOwnSession, type ToolContext } from '../tool';
import { execCall, placeOfCall } from './call-id';

export interface FreeSessions {
  /** In the order to try them; the same for each attempt. */
  numbers: readonly number[];
  open: (session: number) => SessionHandle;
}

/**
 * The call's key is the command's id: a second attempt finds the command and starts nothing. Throws `busy` if all
 * sessions are taken.
 */
export async function execInFree(
  context: ToolContext,
  { numbers, open }: FreeSessions,
  request: ExecRequest,
): Promise<{ session: SessionHandle; view: CommandView }> {
  const candidates = await candidatesOf(context, { numbers, open }, request);
  for (const number of candidates) {
    refuseOwnSession(context, number);
    const session = open(number);
    try {
      return { session, view: await execCall(session, request, context) };
    } catch (err) {
      // Another command has this number: try the next one.
      const isTaken = err instanceof HoldfastError && err.code === 'busy' && number !== candidates.at(-1);
      if (!isTaken) throw err;
    }
  }
  throw new HoldfastError('internal', { reason: 'no session was tried' });
}

/** Finds the first attempt's session, if another command kept it from the first number. */
async function candidatesOf(
  { key, attempt }: ToolContext,
  { numbers, open }: FreeSessions,
  request: ExecRequest,
): Promise<readonly number[]> {
  if (attempt === 1) return numbers;
  const first = await placeOfCall(numbers, open, key, request);
  return first === undefined ? numbers : [first];
}

/** Closes a session that was opened for one command, which has ended. Its log is kept. */
export async function closeEnded(session: SessionHandle): Promise<void> {
  try {
    await session.close('its command has ended');
  } catch (err) {
    // It is already closed.
    if (!(err instanceof HoldfastError) || err.code !== 'not_found') throw err;
  }
}
