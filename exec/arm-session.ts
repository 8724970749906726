// Arms a session on this machine for calls through its terminal, past Temporal: it is the holder's own affair.
import { HoldfastError } from '../contracts/errors';
import type { SessionRef } from '../contracts/ids';
import { HolderClient, HolderGone, type HolderRecord } from './holder-client';
import { readJson } from './json-file';
import { isAlive } from './process-identity';
import type { Verbs } from './protocol';
import { sessionPaths } from './session-paths';

/**
 * Lets scripts that only the session's terminal reaches call tools, until the command that runs there ends.
 * @returns the line that a shell there has to read; null where it was typed, and its shell is connected
 * Throws `arm_refused`; `not_found` where the session has no terminal.
 */
export async function armSession(
  dataDir: string,
  ref: SessionRef,
  mode: Verbs['arm']['request']['mode'],
  signal?: AbortSignal,
): Promise<string | null> {
  const record = readJson<HolderRecord>(sessionPaths(dataDir, ref).holder);
  if (!record || !isAlive(record.identity)) throw noTerminal(ref);
  let client: HolderClient | undefined;
  try {
    client = await HolderClient.connect(record);
    return (await client.request('arm', { mode }, signal)).line;
  } catch (err) {
    throw err instanceof HolderGone ? noTerminal(ref) : err;
  } finally {
    client?.close();
  }
}

const noTerminal = ({ agent, session }: SessionRef): HoldfastError =>
  new HoldfastError('not_found', {
    what: 'A terminal to call tools through',
    got: `session ${session} of agent ${agent}`,
    next: 'Start what reaches the other machine in it (ssh -t, docker exec -it), or see `holdfast ps`.',
  });
