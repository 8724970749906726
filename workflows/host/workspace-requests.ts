// Short workflows about the files of an agent, which may have ended: each asks its host once, and no agent's history
// grows. Their input is checked, since anyone may start them.
import { proxyActivities, workflowInfo, type ActivityInterfaceFor } from '@temporalio/workflow';
import { hostTaskQueue } from '../../contracts/ids';
import {
  compareCheckpointsSchema,
  rewindFilesSchema,
  type CompareCheckpointsInput,
  type RewindFilesOfHostInput,
} from '../../contracts/schemas/checkpoint-shapes';
import type {
  Comparison,
  RewoundWorkspace,
  WorkspaceActivities,
} from '../../contracts/workspaces/requests-to-hosts';
import { rewindOn } from './begun-rewinds';
import { DELIVERY_MS, hostFailure } from './host-activities';
import { checked } from '../messages/refusal';

const workspacesOn = (host: string): ActivityInterfaceFor<WorkspaceActivities> =>
  proxyActivities<WorkspaceActivities>({
    taskQueue: hostTaskQueue(host),
    scheduleToStartTimeout: DELIVERY_MS,
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: '15s',
    retry: { initialInterval: '200ms', maximumInterval: '5s' },
  });

/** Ends with the comparison, or fails with the catalogue's error: `host_offline`, `checkpoint_missing`. */
export async function compareCheckpoints(input?: CompareCheckpointsInput): Promise<Comparison> {
  const { host, ...asked } = checked(compareCheckpointsSchema, 'The input of compareCheckpoints', input);
  return ofHost(host, workspacesOn(host).compareCheckpoints(asked));
}

/** For an agent that has ended, and can take no message: its conversation stays as it is. */
export async function rewindFiles(input?: RewindFilesOfHostInput): Promise<RewoundWorkspace> {
  const { host, ...asked } = checked(rewindFilesSchema, 'The input of rewindFiles', input);
  const key = workflowInfo().workflowId;
  return rewindOn(host, () => workspacesOn(host).rewindWorkspace({ ...asked, key }));
}

async function ofHost<T>(host: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (err) {
    throw hostFailure(err, host);
  }
}
