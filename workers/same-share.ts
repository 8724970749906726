// What an activity starts belongs to the tenant whom the activity works for. The server hands the fairness key of a
// workflow on to its activities and children, but a session is started by a client.
import { activityInfo, Context } from '@temporalio/activity';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { Priority } from '@temporalio/common';

/** For the client of a worker. */
export class SameShare implements WorkflowClientInterceptor {
  startWithDetails: NonNullable<WorkflowClientInterceptor['startWithDetails']> = (input, next) =>
    next({ ...input, options: withShare(input.options) });

  startUpdateWithStart: NonNullable<WorkflowClientInterceptor['startUpdateWithStart']> = (input, next) =>
    next({ ...input, workflowStartOptions: withShare(input.workflowStartOptions) });
}

function withShare<T extends { priority?: Priority }>(options: T): T {
  const priority = options.priority ?? shareHere();
  return priority ? { ...options, priority } : options;
}

function shareHere(): Priority | undefined {
  try {
    Context.current();
  } catch {
    // Not in an activity.
    return undefined;
  }
  const { fairnessKey } = activityInfo().priority ?? {};
  return fairnessKey ? { fairnessKey } : undefined;
}
