// Runs the command of a call: its id is the call's key.
import { createHash } from 'node:crypto';
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { CommandView, ExecRequest } from '../../contracts/sessions/session';
import type { ToolContext } from '../tool';

/**
 * A second attempt finds the command and starts nothing. Once the server has reset a turn, another call may have the key of
 * one from before: the code that ran under it was other code, so this one gets an id of its own.
 */
export async function execCall(
  session: SessionHandle,
  request: ExecRequest,
  { key, signal }: Pick<ToolContext, 'key' | 'signal'>,
): Promise<CommandView> {
  try {
    return await session.exec({ ...request, id: key }, key, signal);
  } catch (err) {
    if (!(err instanceof HoldfastError) || err.code !== 'id_conflict') throw err;
    const id = idOfContent(key, request);
    return session.exec({ ...request, id }, id, signal);
  }
}

/** What a call runs. */
interface Content {
  runtime?: string | undefined;
  code: string;
}

/** The same for each attempt of the call. */
function idOfContent(key: string, { runtime, code }: Content): string {
  const content = createHash('sha256').update(JSON.stringify([runtime, code]));
  return `${key}/${content.digest('hex').slice(0, 16)}`;
}

/** Where an earlier attempt of the call runs or has run last; undefined if nowhere. */
export async function placeOfCall<Place>(
  places: readonly Place[],
  open: (place: Place) => SessionHandle,
  key: string,
  content: Content,
): Promise<Place | undefined> {
  // The content's own id first: the key may be that of another call, from before a reset.
  for (const id of [idOfContent(key, content), key])
    for (const place of places) if (await hasCommand(open(place), id)) return place;
  return undefined;
}

/** Whether this is the session's current or last command. */
async function hasCommand(session: SessionHandle, id: string): Promise<boolean> {
  try {
    const { command, view } = await session.state();
    return command?.id === id || view?.commandId === id;
  } catch (err) {
    if (err instanceof HoldfastError && err.code === 'not_found') return false;
    throw err;
  }
}
