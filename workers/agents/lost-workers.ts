// What the server still believes of workers that were killed: that they have workflows in their caches, so that it
// offers their tasks to the dead worker's own queue first, and waits there for each; and that they run activities. This
// corrects it. What other workers have is left alone: they would have to replay from the first event.
import type { Client } from '@temporalio/client';
import { describeWorkflow } from '../../client/delivery/list-workflows';
import type { ActivityRef } from '../../activities/host/command-journal';
import { workerLost } from '../../contracts/errors/failure';
import { forEachOpen, type OpenRun } from '../open-workflows';

/** A workflow at rest ends with what its last task has asked for. */
const EVENTS_AT_ONCE = 8;
/** temporal.api.enums.v1.PendingActivityState */
const STARTED = 2;

export interface LostWorkers {
  taskQueue: string;
  /** Suffixes of the identities with which they polled. */
  instances: readonly string[];
  /** Ends the search: what was not reached is noticed by the server itself, after its time. */
  signal?: AbortSignal | undefined;
}

export interface GivenBack {
  /** Workflows that were in the caches of the dead workers. */
  open: number;
  /** Activities that the server had handed to them. */
  orphans: number;
}

/** Activities that go on without the worker that had them. */
type IsKept = (activity: ActivityRef) => boolean;

/** Counts in `given` while it goes on: of a thousand open workflows it takes seconds. */
export async function giveBack(
  client: Client,
  lost: LostWorkers & { isKept: IsKept },
  given: GivenBack,
): Promise<void> {
  if (lost.instances.length === 0) return;
  await forEachOpen(client, lost, async (run) => {
    // First: the answer of an activity is a workflow task, which must not go to the dead.
    if (await resetIfCached(client, run, lost)) given.open += 1;
    given.orphans += await failHandedOut(client, run, lost);
  });
}

/** Only the caches. `workflowIds`: of these alone; one that has ended is passed over. */
export async function resetCaches(
  client: Client,
  lost: LostWorkers,
  workflowIds?: readonly string[],
): Promise<void> {
  if (lost.instances.length === 0) return;
  const reset = (run: Partial<OpenRun>): Promise<boolean> => resetIfCached(client, run, lost);
  if (workflowIds)
    await Promise.allSettled([...new Set(workflowIds)].map((workflowId) => reset({ workflowId })));
  else await forEachOpen(client, lost, reset);
}

async function resetIfCached(
  client: Client,
  run: Partial<OpenRun>,
  { instances }: LostWorkers,
): Promise<boolean> {
  const { namespace } = client.options;
  const identity = await cachedBy(client, run);
  if (!instances.some((instance) => identity?.endsWith(` ${instance}`))) return false;
  await client.workflowService.resetStickyTaskQueue({ namespace, execution: run });
  return true;
}

/** The identity of the worker that completed the last workflow task: only it can have the workflow in its cache. */
async function cachedBy(client: Client, execution: Partial<OpenRun>): Promise<string | undefined> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution,
      maximumPageSize: EVENTS_AT_ONCE,
      nextPageToken,
    });
    for (const { workflowTaskCompletedEventAttributes: completed } of page.history?.events ?? [])
      if (completed) return completed.identity ?? undefined;
    nextPageToken = page.nextPageToken;
  } while (nextPageToken && nextPageToken.length > 0);
  return undefined;
}

/** Returns how many of the workflow's activities the server had handed to one of the dead workers. */
async function failHandedOut(
  client: Client,
  { workflowId, runId }: OpenRun,
  { instances, isKept }: LostWorkers & { isKept: IsKept },
): Promise<number> {
  const { raw } = await describeWorkflow(client, workflowId, runId);
  let failed = 0;
  for (const { activityId, lastWorkerIdentity, state } of raw.pendingActivities ?? []) {
    const isLost = instances.some((instance) => lastWorkerIdentity?.endsWith(` ${instance}`));
    if (Number(state) !== STARTED || !isLost || !activityId || isKept({ runId, activityId })) continue;
    await client.activity.fail({ workflowId, runId, activityId }, workerLost());
    failed += 1;
  }
  return failed;
}
