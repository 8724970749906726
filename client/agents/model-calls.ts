// A workflow as the server knows it, in one request that costs it little: whether its history has grown, whether it is over,
// and what a model on any machine has written so far.
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import type { WrittenSoFar } from '../../contracts/models/live-tokens';
import { isOver } from '../delivery/workflow-end';

/** A call of the model that runs now. */
export interface RunningModelCall {
  /** The call, over its attempts. */
  id: string;
  /** Counts from 1. */
  attempt: number;
  /** Null before the first heartbeat, and if its worker is the only one on its server. */
  written: WrittenSoFar | null;
}

export interface RunningWorkflow {
  /** Changes whenever its history grows. */
  fingerprint: string;
  runId: string;
  /** The run of the workflow that began it. */
  parentRunId: string | null | undefined;
  /** However it ended. */
  isOver: boolean;
  modelCall: RunningModelCall | null;
}

/** Null if the server does not know the workflow, or no longer. */
export async function runningWorkflow(client: Client, workflowId: string): Promise<RunningWorkflow | null> {
  const described = await client.workflow
    .getHandle(workflowId)
    .describe()
    .catch((err: unknown) => {
      if (err instanceof WorkflowNotFoundError) return null;
      throw err;
    });
  if (!described) return null;
  const { runId, historyLength, status, parentExecution, raw } = described;
  const known = {
    fingerprint: `${runId} ${historyLength} ${status.name}`,
    ...{ runId, parentRunId: parentExecution?.runId, isOver: isOver(described) },
  };
  const call = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'callModel');
  if (!call) return { ...known, modelCall: null };
  const { loadedDataConverter } = client.options;
  // Those of a worker with other keys cannot be read.
  const [details] = await decodeArrayFromPayloads(loadedDataConverter, call.heartbeatDetails?.payloads).catch(
    () => [],
  );
  const modelCall = {
    id: `${runId} ${call.activityId}`,
    attempt: call.attempt ?? 1,
    written: isWritten(details) ? details : null,
  };
  return { ...known, modelCall };
}

/** Workers of other releases send none, or others. */
const isWritten = (value: unknown): value is WrittenSoFar => {
  const { writer, length, end } = (value ?? {}) as Partial<WrittenSoFar>;
  return typeof writer === 'string' && typeof length === 'number' && typeof end === 'string';
};
