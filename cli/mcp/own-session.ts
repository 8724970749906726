// Which session an MCP client's command runs in: like `holdfast exec`, in the folder where the client was started.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { MAX_SESSIONS_PER_AGENT, type SessionState } from '../../contracts/sessions/session';
import type { SessionHandle } from '../../client/session-handle';
import { folderOn } from '../arguments';
import { isLocal } from '../context';
import type { CliContext } from '../open-context';

export interface Address {
  agent: string;
  host?: string | undefined;
  /** Default: the first one that is open in the folder, else the first that is not open. */
  session?: number | undefined;
}

/** Where work on this machine begins: `cwd`, else where the client was started. A host elsewhere has folders of its own. */
export const workingFolder = (context: CliContext, host = context.host, cwd?: string): string | undefined =>
  isLocal(context, host) && context.uiUrl !== undefined ? folderOn(host, cwd) : cwd;

/**
 * The session, which begins in the folder if it is not open yet; elsewhere, without `cwd`, session 0 is meant. Throws
 * `invalid_input` for a session that is open in another folder than `cwd`.
 */
export async function ownSession(
  context: CliContext,
  { agent, host = context.host, session }: Address,
  cwd?: string,
): Promise<SessionHandle> {
  const folder = workingFolder(context, host, cwd);
  const handle = (number: number): SessionHandle =>
    context.client.session({ agent, host, session: number }, folder ? { cwd: folder } : {});
  if (session === undefined && folder !== undefined) {
    for (let number = 0; number < MAX_SESSIONS_PER_AGENT; number += 1)
      if (fits(await handle(number).stateIfAny(), folder)) return handle(number);
  }
  const named = handle(session ?? 0);
  if (cwd !== undefined && !fits(await named.stateIfAny(), folder ?? cwd)) {
    throw new HoldfastError('invalid_input', {
      what: 'cwd',
      got: `${cwd} for session ${session ?? 0}, which is open in another folder`,
      allowed: 'a session that is not open yet',
      next: 'Leave out "session", or go there with cd.',
    });
  }
  return named;
}

const fits = (state: SessionState | undefined, folder: string): boolean =>
  state === undefined || state.status === 'closed' || state.cwd === folder;
