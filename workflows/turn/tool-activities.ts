// How workflows run tools: beside the agents, or on the host of the shells.
import { proxyActivities, type ActivityInterfaceFor, type ActivityOptions } from '@temporalio/workflow';
import type { ToolActivities } from '../../contracts/activities';
import type { ToolCall, ToolResult } from '../../contracts/agents/agent';
import { failedCall } from '../../contracts/errors/failed-call';
import { fromFailure } from '../../contracts/errors/failure';
import { hostTaskQueue, LOCAL_HOST } from '../../contracts/ids';
import type { ToolInvocation } from '../../contracts/tools/tools';
import { DELIVERY_MS, hostFailure } from '../host/host-activities';

const OPTIONS: ActivityOptions = {
  startToCloseTimeout: '31 days',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '500ms', maximumInterval: '30s' },
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
  proxyActivities<ToolActivities>({ ...OPTIONS, ...(taskQueue !== undefined && { taskQueue }), ...options });

/** One call of the model. If the host is offline, the model is told. */
export async function callTool(input: ToolInvocation, summary: string): Promise<ToolResult> {
  const host = hostOf(input.call, input.settings.host);
  try {
    return await toolsOn(host).callTool.executeWithOptions({ summary }, [input]);
  } catch (err) {
    const known = host === null ? undefined : fromFailure(hostFailure(err, host));
    if (!known) throw err;
    return failedCall(input.call, known);
  }
}

const hostOf = ({ runsOn }: ToolCall, host = LOCAL_HOST): string | null => (runsOn === 'host' ? host : null);
