// How workflows call a host's activities: timeouts, and what their failures mean.
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  TimeoutFailure,
  proxyActivities,
  type ActivityInterfaceFor,
  type ActivityOptions,
} from '@temporalio/workflow';
import type { HeldCommand } from '../../contracts/tools/approvals';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { WORKER_LOST, fromFailure, toFailure } from '../../contracts/errors/failure';
import type { HostActivities, RunCommandInput } from '../../contracts/sessions/host';
import { hostTaskQueue } from '../../contracts/ids';
import type { CommandView } from '../../contracts/sessions/session';

/** A host whose worker takes no task for this long is offline. */
export const DELIVERY_MS = 30_000;
/** A host worker that is silent for this long is gone; the command itself may still be running. */
const HEARTBEAT_MS = 15_000;

const OPTIONS: ActivityOptions = {
  startToCloseTimeout: '31 days',
  scheduleToStartTimeout: DELIVERY_MS,
  heartbeatTimeout: HEARTBEAT_MS,
  retry: { initialInterval: '200ms', maximumInterval: '5s' },
};

/** Activities that are safe to retry: the host recognises their ids, or they only read. */
export const repeatable = (host: string): ActivityInterfaceFor<HostActivities> =>
  proxyActivities<HostActivities>({ ...OPTIONS, taskQueue: hostTaskQueue(host) });

export interface Sending {
  /** It was already delivered, by an earlier run of the workflow. */
  attached: boolean;
  summary: string;
  /** When the command was first sent, in milliseconds by the server's clock. */
  sentAt: number;
  /** Why it must not begin any more; null while it may. */
  over: () => string | null;
}

/**
 * Runs a command to its end. The death of a host worker does not end it: the command is delivered again with its
 * id, which re-attaches and never types twice. Only the first delivery can fail as `host_offline`.
 */
export async function runCommand(
  input: RunCommandInput,
  { attached, summary, sentAt, over }: Sending,
): Promise<CommandView | HeldCommand> {
  for (let delivered = attached; ; delivered = true) {
    const reason = over();
    const activity = proxyActivities<HostActivities>({
      ...OPTIONS,
      ...(delivered && { scheduleToStartTimeout: undefined }),
      taskQueue: hostTaskQueue(input.ref.host),
      retry: { maximumAttempts: 1 },
      cancellationType: ActivityCancellationType.ABANDON,
    });
    try {
      return await activity.runCommand.executeWithOptions({ summary }, [
        {
          ...input,
          // Any other data folder refuses a session that knows its own.
          ...(delivered && input.ref.folderId === undefined && { resentSince: sentAt }),
          // Delivered again, it only says how it went: it must not begin now.
          ...(delivered && reason !== null && { over: reason }),
        },
      ]);
    } catch (err) {
      if (timeoutOf(err) !== 'HEARTBEAT' && !isWorkerLost(err)) throw hostFailure(err, input.ref.host);
    }
  }
}

/** The catalogue's error behind a failed activity; any other error unchanged. */
export function hostFailure(err: unknown, host: string): unknown {
  const known = fromFailure(err);
  if (known) return toFailure(known);
  if (timeoutOf(err) === 'SCHEDULE_TO_START') {
    return toFailure(new HoldfastError('host_offline', { host, waitedMs: DELIVERY_MS }));
  }
  return err;
}

/** What the next worker reports for an activity that a killed worker had begun. */
const isWorkerLost = (err: unknown): boolean =>
  err instanceof ActivityFailure && err.cause instanceof ApplicationFailure && err.cause.type === WORKER_LOST;

function timeoutOf(err: unknown): string | undefined {
  return err instanceof ActivityFailure && err.cause instanceof TimeoutFailure
    ? err.cause.timeoutType
    : undefined;
}
