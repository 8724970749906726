// Who polls a task queue of agents, as the server lists them. Each names itself in the identity with which it polls.
import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import { isRunning } from '../../system/processes/proc';
import { latestOf, POLLER_MS, pollersOf, QUEUE_TYPES, seenAtOf } from '../pollers';

export interface Poller {
  /** Fingerprint of what it offers. */
  offer: string;
  /** The build of its deployment version; null if it polls without one. */
  buildId: string | null;
}

export interface PolledQueue {
  /** Workers of the queue in other processes. */
  others: Poller[];
  /** The build that gets the tasks; null: workers without a version. */
  currentBuild: string | null;
}

export const pollerIdentity = (offer: string, instance: string): string =>
  `${process.pid}@${hostname()} agents ${offer} ${instance}`;

const IDENTITY = /^(\d+)@(\S+) agents ([0-9a-f]{12}) (\S+)$/;

/** Running sets of workers in this process, by instance. */
export const serving = new Set<string>();

/**
 * @param own Instances that are not others.
 * @param now The server's time. Default: of the latest poll, which for a worker of the queue is a minute ago at most.
 */
export async function polledQueue(
  client: Client,
  queue: string,
  own: readonly (string | undefined)[] = [],
  now?: number,
): Promise<PolledQueue> {
  const { pollers, versioningInfo } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: queue },
    taskQueueType: QUEUE_TYPES.workflow,
  });
  const at = now ?? latestOf((pollers ?? []).map(seenAtOf));
  const others = (pollers ?? []).flatMap((poller) => {
    const { identity, deploymentOptions } = poller;
    const [, pid, machine, offer, of] = IDENTITY.exec(identity ?? '') ?? [];
    if (pid === undefined || offer === undefined) return [];
    const isLate = at - seenAtOf(poller) > POLLER_MS;
    const isOther = !own.includes(of) && isThere({ pid: Number(pid), machine, instance: of });
    return isOther && !isLate ? [{ offer, buildId: deploymentOptions?.buildId || null }] : [];
  });
  return { others, currentBuild: versioningInfo?.currentDeploymentVersion?.buildId || null };
}

/** A process on this machine can be checked directly; the server notices only after a minute. */
function isThere({
  pid,
  machine,
  instance = '',
}: {
  pid: number;
  machine?: string;
  instance?: string;
}): boolean {
  if (machine !== hostname()) return true;
  if (pid === process.pid) return serving.has(instance);
  // One that has ended counts as gone, even if no process has waited for it: it still has its pid.
  return isRunning(pid);
}

/**
 * The identity of the first of a queue's workers, in an order that all of them see alike; undefined if none polls. For
 * what one of them does for all.
 */
export async function firstOfWorkers(client: Client, queue: string): Promise<string | undefined> {
  const pollers = await pollersOf(client, queue, QUEUE_TYPES.workflow);
  const now = latestOf(pollers.map(({ seenAt }) => seenAt));
  const alive = pollers.filter(({ seenAt }) => now - seenAt <= POLLER_MS);
  return alive
    .map(({ identity }) => identity)
    .filter((identity) => IDENTITY.test(identity))
    .sort()[0];
}
