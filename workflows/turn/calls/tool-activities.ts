// How workflows run tools: beside the agents, or on the host of the shells.
import {
  isCancellation,
  proxyActivities,
  proxySinks,
  workflowInfo,
  type ActivityInterfaceFor,
  type ActivityOptions,
} from '@temporalio/workflow';
import type { ToolActivities } from '../../../contracts/activities';
import type { CancelledCallsSinks } from '../../../contracts/cancellations';
import type { ToolCall, ToolResult } from '../../../contracts/agents/agent';
import { shareOf } from '../../../contracts/agents/shares';
import { failedCall } from '../../../contracts/tools/failed-call';
import { fromFailure } from '../../../contracts/errors/failure';
import { hostTaskQueue, LOCAL_HOST } from '../../../contracts/ids';
import type { WorkspaceActivities } from '../../../contracts/workspaces/requests-to-hosts';
import type { ToolInvocation } from '../../../contracts/tools/tools';
import { DELIVERY_MS, hostFailure } from '../../host/host-activities';

export const RETRY = { initialInterval: '500ms', maximumInterval: '30s' } as const;
/** For model calls and tools, whose own limits are in their input. */
export const LASTING: ActivityOptions = {
  startToCloseTimeout: '31 days',
  heartbeatTimeout: '10s',
  retry: RETRY,
};

/** Where tools run: on a host, or, without one, beside the agents. */
export const toolsOn = (
  host: string | null,
  options: ActivityOptions = {},
): ActivityInterfaceFor<ToolActivities> =>
  toolsAt(host === null ? undefined : hostTaskQueue(host), {
    ...(host !== null && { scheduleToStartTimeout: DELIVERY_MS }),
    ...options,
  });

export const toolsAt = (
  taskQueue: string | undefined,
  options: ActivityOptions,
): ActivityInterfaceFor<ToolActivities> =>
  proxyActivities<ToolActivities>({
    ...LASTING,
    ...(taskQueue !== undefined && { taskQueue }),
    ...ownShare(),
    ...options,
  });

/** What hosts do with workspaces. How long that may take differs. */
export const workspacesOn = (
  host: string,
  options: ActivityOptions,
): ActivityInterfaceFor<WorkspaceActivities> =>
  proxyActivities<WorkspaceActivities>({
    taskQueue: hostTaskQueue(host),
    heartbeatTimeout: '15s',
    ...ownShare(),
    ...options,
  });

/** The server gives an activity its workflow's tenant, but reports to it only what the activity itself was scheduled with. */
function ownShare(): ActivityOptions {
  const { fairnessKey } = workflowInfo().priority ?? {};
  return fairnessKey ? { priority: shareOf(fairnessKey) } : {};
}

const { cancelledCalls } = proxySinks<CancelledCallsSinks>();

/**
 * The same promise. If it is cancelled, this worker hears of it at once, and the call, if it runs here, does nothing more.
 * @param key names it within this run
 */
export function heardHere<T>(key: string | undefined, call: Promise<T>): Promise<T> {
  call.catch((err: unknown) => {
    if (key !== undefined && isCancellation(err)) cancelledCalls.report(key);
  });
  return call;
}

/** One call of the model. If the host is offline, the model learns that. */
export async function callTool(input: ToolInvocation, summary: string): Promise<ToolResult> {
  const host = hostOf(input.call, input.settings.host);
  try {
    // Without the facts, which the tool itself declares: history is paid for.
    const call = { ...input.call, facts: undefined };
    const called = toolsOn(host).callTool.executeWithOptions({ summary }, [{ ...input, call }]);
    return await heardHere(input.key, called);
  } catch (err) {
    const known = host === null ? undefined : fromFailure(hostFailure(err, host));
    if (!known) throw err;
    return failedCall(input.call, known);
  }
}

const hostOf = ({ runsOn }: ToolCall, host = LOCAL_HOST): string | null => (runsOn === 'host' ? host : null);
