// Who polls a task queue, as far as the server knows.
import type { Client } from '@temporalio/client';
import type { ClaimFacts } from '../contracts/sessions/claims';

/** The server lists a poller for minutes after its last poll, which lasts a minute at most. */
export const POLLER_MS = 75_000;
/** temporal.api.enums.v1.TaskQueueType */
export const QUEUE_TYPES = { workflow: 1, activity: 2 } as const;

export interface Poller {
  identity: string;
  /** When it last began to poll, in milliseconds since 1970 by the server's clock. */
  seenAt: number;
}

export async function pollersOf(
  client: Client,
  queue: string,
  type: (typeof QUEUE_TYPES)[keyof typeof QUEUE_TYPES],
): Promise<Poller[]> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: queue },
    taskQueueType: type,
  });
  return (pollers ?? []).map((poller) => ({ identity: poller.identity ?? '', seenAt: seenAtOf(poller) }));
}

type RawPoller = NonNullable<
  Awaited<ReturnType<Client['workflowService']['describeTaskQueue']>>['pollers']
>[number];

export const seenAtOf = ({ lastAccessTime }: RawPoller): number =>
  Number(lastAccessTime?.seconds ?? 0) * 1_000;

/** 0 for none. The clock of this machine may differ from the server's. */
export const latestOf = (times: readonly number[]): number => Math.max(0, ...times);

/** When the maker of a claim last polled one of its queues, in milliseconds since 1970; 0 for never. */
export async function lastPollOf(
  client: Client,
  { queues = [], instance }: Pick<ClaimFacts, 'queues' | 'instance'>,
): Promise<number> {
  const asked = queues.map((queue) => pollersOf(client, queue, QUEUE_TYPES.activity));
  const own = (await Promise.all(asked)).flat().filter(({ identity }) => identity.endsWith(` ${instance}`));
  return latestOf(own.map(({ seenAt }) => seenAt));
}
