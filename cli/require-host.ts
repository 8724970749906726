// Whether there is a host of a name: a command for one that nobody knows would wait for it in vain.
import { setTimeout as delay } from 'node:timers/promises';
import { hasPollers } from '../client/delivery/deliver';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { hostTaskQueue } from '../contracts/ids';
import { isLocal, type CliContext } from './context';

/** Its worker may be starting just now. */
const PATIENCE_MS = 1_500;
const PAUSE_MS = 250;

/** Throws `unknown_host`, and `host_offline` where it is known and gone. Costs nothing for the host of this machine. */
export async function requireHost(context: CliContext, host: string): Promise<void> {
  if (isLocal(context, host)) return;
  for (const since = Date.now(); ; await delay(PAUSE_MS)) {
    try {
      return await check(context, host);
    } catch (err) {
      if (Date.now() - since > PATIENCE_MS) throw err;
    }
  }
}

async function check({ client }: CliContext, host: string): Promise<void> {
  try {
    const { status, since, reason } = await client.hosts.state(host);
    if (status !== 'online') throw new HoldfastError('host_offline', { host, since, reason });
  } catch (err) {
    // A worker beside the agents announces nothing.
    const isUnknown = err instanceof HoldfastError && err.code === 'unknown_host';
    if (!isUnknown || !(await hasPollers(client.temporal, hostTaskQueue(host)))) throw err;
  }
}
