// How a session's terminal and log on another machine are reached: directly, if its host listens and a token is given.
import type { HoldfastClient } from '../../client/holdfast-client';
import { LOCAL_HOST, type SessionRef } from '../../contracts/ids';
import { RemoteTerminal } from '../../exec/attach/remote-terminal';
import { HolderGone } from '../../exec/client/holder-client';

/** The caller closes the connection; without one, `why` says the reason, and `isAway` whether it may pass by itself. */
export type Way = { terminal: RemoteTerminal } | { terminal: null; why: string; isAway?: boolean };

/** What the host and its visitor know of each other. */
interface Visit {
  /** The host's token. */
  token: string | undefined;
  /** As in `RemotePlace`. */
  pulseMs?: number;
}

/** Throws `unknown_host`, and `attach_refused` if the host refuses the connection. */
export async function wayToHost(
  client: HoldfastClient,
  { agent, host, session }: SessionRef,
  { token, pulseMs }: Visit,
): Promise<Way> {
  if (host === LOCAL_HOST) return { terminal: null, why: 'it is the machine of the agents' };
  const { status, facts } = await client.hosts.state(host);
  if (status !== 'online') return { terminal: null, why: 'it is offline', isAway: true };
  if (!facts?.listens) return { terminal: null, why: 'it was started without --listen' };
  if (token === undefined)
    return { terminal: null, why: 'no token is given (HOLDFAST_HOST_TOKEN, --token-file)' };
  try {
    const ref: SessionRef = { agent, host, session };
    return { terminal: await RemoteTerminal.open({ listens: facts.listens, token, ref, pulseMs }) };
  } catch (err) {
    if (err instanceof HolderGone) return { terminal: null, why: err.message, isAway: true };
    throw err;
  }
}
