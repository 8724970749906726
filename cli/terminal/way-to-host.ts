// How the command line reaches the terminals and logs of a remote host: directly, if the host listens and a token is
// given.
import { readFileSync } from 'node:fs';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { LOCAL_HOST, type SessionRef } from '../../contracts/ids';
import { HolderGone } from '../../exec/client/holder-client';
import { RemoteTerminal } from '../../exec/attach/remote-terminal';
import type { CliContext, SessionOptions } from '../context';

export interface WayOptions extends SessionOptions {
  tokenFile?: string;
}

/** The caller closes the connection; without one, `why` says the reason. */
export type Way = { terminal: RemoteTerminal } | { terminal: null; why: string };

/** Throws `unknown_host`, and `attach_refused` if the host refuses the connection. */
export async function wayTo(context: CliContext, options: WayOptions): Promise<Way> {
  const { agent, host, session } = options;
  if (host === LOCAL_HOST) return { terminal: null, why: 'it is the machine of the agents' };
  const { status, facts } = await context.client.hosts.state(host);
  if (status !== 'online') return { terminal: null, why: 'it is offline' };
  if (!facts?.listens) return { terminal: null, why: 'it was started without --listen' };
  const token = tokenOf(options);
  if (token === undefined)
    return { terminal: null, why: 'no token is given (HOLDFAST_HOST_TOKEN, --token-file)' };
  const ref: SessionRef = { agent, host, session };
  try {
    return { terminal: await RemoteTerminal.open({ listens: facts.listens, token, ref }) };
  } catch (err) {
    if (err instanceof HolderGone) return { terminal: null, why: err.message };
    throw err;
  }
}

/** Flag over environment. */
function tokenOf({ tokenFile }: WayOptions): string | undefined {
  if (tokenFile === undefined) return process.env.HOLDFAST_HOST_TOKEN?.trim() || undefined;
  try {
    return readFileSync(tokenFile, 'utf8').trim();
  } catch (err) {
    throw new HoldfastError('invalid_input', {
      what: '--token-file',
      got: reasonOf(err),
      allowed: 'a readable file',
    });
  }
}
