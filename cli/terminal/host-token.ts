// The token of a listening host, as the command line is given it, and the way there.
import { readFileSync } from 'node:fs';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { wayToHost, type Way } from '../../gateway/terminals/way-to-host';
import type { SessionOptions } from '../global-options';
import type { CliContext } from '../open-context';

export interface WayOptions extends SessionOptions {
  tokenFile?: string;
}

/** Throws `unknown_host`, and `attach_refused` if the host refuses the connection. */
export const wayTo = (context: CliContext, options: WayOptions): Promise<Way> =>
  wayToHost(context.client, options, { token: tokenOf(options) });

/** Flag over environment. */
export function tokenOf({ tokenFile }: Pick<WayOptions, 'tokenFile'>): string | undefined {
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
