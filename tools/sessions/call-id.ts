// The id of what a call asks of a session: the call's key, so that a second attempt does nothing twice.
import type { SessionHandle } from '../../client/session-handle';
import { type ErrorCode, HoldfastError } from '../../contracts/errors/holdfast-error';
import {
  contentHash,
  execContent,
  inputContent,
  resetContent,
  type MessageContent,
} from '../../contracts/message-content';
import type { ExecRequest, InputRequest, ResetRequest } from '../../contracts/schemas/session';
import type { CommandView } from '../../contracts/sessions/session';
import type { ToolContext } from '../tool';

type CallContext = Pick<ToolContext, 'key' | 'signal'>;

/** A second attempt finds the command and starts nothing. */
export const execCall = (
  session: SessionHandle,
  request: ExecRequest,
  { key, signal }: CallContext,
): Promise<CommandView> =>
  asCall(key, execContent(request), (id) => session.exec({ ...request, id }, id, signal));

/** A second attempt types nothing. */
export const inputCall = (
  session: SessionHandle,
  request: InputRequest,
  { key }: CallContext,
): Promise<CommandView> => asCall(key, inputContent(request), (id) => session.input(request, id));

/** A second attempt ends nothing that has begun since. */
export const resetCall = (
  session: SessionHandle,
  request: ResetRequest,
  { key }: CallContext,
): Promise<CommandView> => asCall(key, resetContent(request), (id) => session.reset(request, id));

/**
 * Once the server has reset a turn, another call may have the key of one from before. What was sent under that key was
 * something else, so this call gets an id of its own.
 */
async function asCall<T>(key: string, content: MessageContent, send: (id: string) => Promise<T>): Promise<T> {
  try {
    return await send(key);
  } catch (err) {
    if (!isError(err, 'id_conflict')) throw err;
    return send(idOfContent(key, content));
  }
}

/** The same for each attempt of the call. */
const idOfContent = (key: string, content: MessageContent): string => `${key}/${contentHash(key, content)}`;

/** Where an earlier attempt of the call runs or has run last; undefined if nowhere. */
export async function placeOfCall<Place>(
  places: readonly Place[],
  open: (place: Place) => SessionHandle,
  key: string,
  request: ExecRequest,
): Promise<Place | undefined> {
  // The content's own id first: the key may be that of another call, from before a reset.
  for (const id of [idOfContent(key, execContent(request)), key])
    for (const place of places) if (await hasCommand(open(place), id)) return place;
  return undefined;
}

/** Whether this is the session's current or last command. */
async function hasCommand(session: SessionHandle, id: string): Promise<boolean> {
  try {
    const { command, view } = await session.state();
    return command?.id === id || view?.commandId === id;
  } catch (err) {
    if (isError(err, 'not_found')) return false;
    throw err;
  }
}

const isError = (err: unknown, code: ErrorCode): boolean => err instanceof HoldfastError && err.code === code;
