// Runs a command in a session of its own: the first free one of a row of numbers that follows from the call's key.
import type { SessionHandle } from '../client/session-handle';
import { HoldfastError } from '../contracts/errors';
import type { CommandView, ExecRequest } from '../contracts/session';
import { refuseOwnSession, type ToolContext } from './tool';

export interface FreeSessions {
  /** In the order in which they are tried; the same for each attempt. */
  numbers: readonly number[];
  open: (session: number) => SessionHandle;
}

/**
 * The call's key is the command's id: a second attempt finds the command and starts nothing. Throws `busy` when all
 * of the sessions are taken.
 */
export async function execInFree(
  context: ToolContext,
  { numbers, open }: FreeSessions,
  request: ExecRequest,
): Promise<{ session: SessionHandle; view: CommandView }> {
  const { key } = context;
  const candidates = await candidatesOf(context, { numbers, open });
  for (const number of candidates) {
    refuseOwnSession(context, number);
    const session = open(number);
    try {
      return { session, view: await session.exec({ ...request, id: key }, key) };
    } catch (err) {
      // Another command has the same number: the next one is tried.
      const isTaken = err instanceof HoldfastError && err.code === 'busy' && number !== candidates.at(-1);
      if (!isTaken) throw err;
    }
  }
  throw new HoldfastError('internal', { reason: 'no session was tried' });
}

/** Where the first attempt did not come to the first number, because another command ran there, it is looked for. */
async function candidatesOf(
  { key, attempt }: ToolContext,
  { numbers, open }: FreeSessions,
): Promise<readonly number[]> {
  if (attempt === 1) return numbers;
  for (const number of numbers) if (await hasCommand(open(number), key)) return [number];
  return numbers;
}

/** Whether the session runs this command, or ran it last. */
export async function hasCommand(session: SessionHandle, id: string): Promise<boolean> {
  try {
    const { command, view } = await session.state();
    return command?.id === id || view?.commandId === id;
  } catch (err) {
    if (err instanceof HoldfastError && err.code === 'not_found') return false;
    throw err;
  }
}

/** Closes a session that was opened for one command, which has ended. Its log stays. */
export async function closeEnded(session: SessionHandle): Promise<void> {
  try {
    await session.close('its command has ended');
  } catch (err) {
    // One that is closed already needs no closing.
    if (!(err instanceof HoldfastError) || err.code !== 'not_found') throw err;
  }
}
