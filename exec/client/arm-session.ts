// Arms a session on this machine for calls through its terminal. Does not go through Temporal: only the holder is
// involved.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { SessionRef } from '../../contracts/ids';
import { HolderConnections } from './holder-connections';
import type { Verbs } from '../protocol';

/**
 * Lets scripts that only the session's terminal reaches call tools, until the running command ends.
 * @returns the line that the shell there has to read; null if it was typed and the shell is connected
 * Throws `arm_refused`; `not_found` if the session has no terminal, `session_unreachable` if it does not answer.
 */
export async function armSession(
  dataDir: string,
  ref: SessionRef,
  mode: Verbs['arm']['request']['mode'],
  signal?: AbortSignal,
): Promise<string | null> {
  const connections = new HolderConnections(dataDir);
  try {
    const answer = await connections.ask(ref, 'arm', { mode }, signal);
    if (!answer) throw noTerminal(ref);
    return answer.line;
  } finally {
    connections.closeAll();
  }
}

const noTerminal = ({ agent, session }: SessionRef): HoldfastError =>
  new HoldfastError('not_found', {
    what: 'A terminal to call tools through',
    got: `session ${session} of agent ${agent}`,
    next: 'Connect it to the other machine (ssh -t, docker exec -it), or see `holdfast ps`.',
  });
