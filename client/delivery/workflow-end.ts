// Whether and how a workflow ended; for a terminated one also by whom and why, which only its history records.
import type {
  Client,
  WorkflowExecutionInfo,
  WorkflowExecutionStatusName,
  WorkflowFailedError,
} from '@temporalio/client';
import { CancelledFailure, TerminatedFailure } from '@temporalio/common';

/** Any other status, such as `PAUSED` or one unknown to this SDK, counts as alive. */
const OVER: readonly WorkflowExecutionStatusName[] = [
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'TERMINATED',
  'TIMED_OUT',
];

export const isOver = ({ status }: Pick<WorkflowExecutionInfo, 'status'>): boolean =>
  OVER.includes(status.name);

export type EndedWorkflow = Pick<WorkflowExecutionInfo, 'workflowId' | 'runId' | 'status'>;

/** For example `completed`, or `terminated by root@host: too dear`. */
export async function describeEnd(
  client: Client,
  { workflowId, runId, status }: EndedWorkflow,
): Promise<string> {
  const name = status.name.toLowerCase().replaceAll('_', ' ');
  if (status.name !== 'TERMINATED') return name;
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const { identity, reason } = history?.events?.[0]?.workflowExecutionTerminatedEventAttributes ?? {};
  return `${name}${identity ? ` by ${identity}` : ''}${reason ? `: ${reason}` : ''}`;
}

/** How one ended that could not report that itself. */
export function failureText({ cause, message }: WorkflowFailedError): string {
  if (cause instanceof CancelledFailure) return 'it was cancelled';
  if (cause instanceof TerminatedFailure) return `it was terminated: ${cause.message}`;
  return cause?.message ?? message;
}
