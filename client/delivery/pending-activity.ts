// What a workflow's open activities are doing, as the server knows it: which attempt, why the last one failed, when the
// next one begins. Costs no history.
import type { Client } from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { fromFailure } from '../../contracts/errors/failure';
import { describeWorkflow } from './list-workflows';
import { millisecondsOf, type Timestamp } from '../timestamp';

export interface PendingActivity {
  /** Name of its type, for example `callModel`. */
  type: string;
  /** Counts from 1. */
  attempt: number;
  /** When the present attempt was started, or is scheduled. */
  since: Date;
  /** Why the last attempt failed; null for a first attempt. */
  failure: { code: string; reason: string } | null;
  /** When it is tried again; null while an attempt runs. */
  nextAttemptAt: Date | null;
}

/** In the order in which they were scheduled. Throws `WorkflowNotFoundError`. */
export async function pendingActivities(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<PendingActivity[]> {
  const { raw } = await describeWorkflow(client, workflowId, runId);
  return Promise.all(
    (raw.pendingActivities ?? []).map(async (activity) => {
      const { activityType, attempt, lastFailure, lastStartedTime, scheduledTime } = activity;
      const { loadedDataConverter } = client.options;
      const failure = await decodeOptionalFailureToOptionalError(loadedDataConverter, lastFailure);
      const next = dateOf(activity.nextAttemptScheduleTime);
      return {
        type: activityType?.name ?? 'unknown',
        attempt: attempt ?? 1,
        since: dateOf(lastStartedTime) ?? dateOf(scheduledTime) ?? new Date(),
        failure: failure ? failureOf(failure) : null,
        nextAttemptAt: next && next.getTime() > Date.now() ? next : null,
      };
    }),
  );
}

function failureOf(failure: Error): { code: string; reason: string } {
  const known = fromFailure(failure);
  if (!(known instanceof HoldfastError)) return { code: failure.name, reason: reasonOf(failure) };
  // Without the next step: it is tried again by itself.
  return { code: known.code, reason: known.detail };
}

function dateOf(time: Timestamp | null | undefined): Date | null {
  const at = millisecondsOf(time);
  return at === null ? null : new Date(at);
}
