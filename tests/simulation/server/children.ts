// Child workflows: their start, their end as their parent hears of it, and what becomes of them when it ends.
import { CancelledFailure, ChildWorkflowFailure, TerminatedFailure } from '@temporalio/common';
import type { Closing, EventType } from './history';
import { errorOf, failureOf, payloadsOf, valueOf, type Command, type Failure, type Job } from './payloads';
import type { Child, Effects, Run } from './run';

/** The numbers of the protocol. */
const ALREADY_EXISTS = 1;
const TERMINATES = 1;
const ABANDONED = 2;

export function startChild(server: Effects, run: Run, command: Required<Command>): void {
  const asked = command.startChildWorkflowExecution;
  if (!asked) return;
  const { input, searchAttributes, parentClosePolicy, memo, headers } = asked;
  const [seq, workflowId, workflowType] = [asked.seq ?? 0, asked.workflowId ?? '', asked.workflowType ?? ''];
  run.record('StartChildWorkflowExecutionInitiated');
  const child: Child = { workflowId, policy: parentClosePolicy ?? 0, runId: null, afterStart: [] };
  run.children.set(seq, child);
  run.home.agenda.add(`start of ${workflowId}`, () => {
    // Its parent has ended before: it is started only if it would have been left running.
    if (!run.isOpen && child.policy !== ABANDONED) return;
    const started = server.begin({
      ...{ workflowId, workflowType, args: input ?? [] },
      headers: headers ?? {},
      attributes: searchAttributes?.indexedFields ?? {},
      memo: Object.fromEntries(Object.entries(memo ?? {}).map(([key, payload]) => [key, valueOf(payload)])),
      parent: { workflowId: run.workflowId, runId: run.runId },
      tellParent: (closing) => childEnded(run, seq, workflowType, closing),
    });
    if (started) child.runId = started.runId;
    else run.children.delete(seq);
    const failed = { workflowId, workflowType, cause: ALREADY_EXISTS };
    const outcome = started ? { succeeded: { runId: started.runId } } : { failed };
    run.happen(started ? 'ChildWorkflowExecutionStarted' : 'StartChildWorkflowExecutionFailed', {
      job: { resolveChildWorkflowExecutionStart: { seq, ...outcome } },
    });
    for (const work of child.afterStart) work();
  });
}

export function cancelChild(server: Effects, run: Run, command: Required<Command>): void {
  const child = run.children.get(command.cancelChildWorkflowExecution?.childWorkflowSeq ?? 0);
  run.record('RequestCancelExternalWorkflowExecutionInitiated');
  const request = (): void =>
    run.home.agenda.add(`cancellation of the child of ${run.workflowId}`, () => {
      const isTaken = child !== undefined && server.cancel(child.workflowId);
      run.happen(
        isTaken ? 'ExternalWorkflowExecutionCancelRequested' : 'RequestCancelExternalWorkflowExecutionFailed',
      );
    });
  if (child?.runId === null) child.afterStart.push(request);
  else request();
}

/** Also when it continues as new. */
export function leaveChildren(server: Effects, run: Run): void {
  for (const { workflowId, policy } of run.children.values()) {
    if (policy === ABANDONED) continue;
    const work = (): unknown =>
      policy === TERMINATES ? server.terminate(workflowId, 'its parent ended') : server.cancel(workflowId);
    run.home.agenda.add(`${workflowId} learns of the end of its parent`, () => void work());
  }
}

function childEnded(run: Run, seq: number, type: string, closing: Closing): void {
  const child = run.children.get(seq);
  run.children.delete(seq);
  const execution = { workflowId: child?.workflowId ?? '', runId: child?.runId ?? '' };
  const failure = (cause: Error): Failure =>
    failureOf(new ChildWorkflowFailure('default', execution, type, 'NON_RETRYABLE_FAILURE', cause));
  const [event, result] = resultOf(closing, failure);
  run.happen(event, { job: { resolveChildWorkflowExecution: { seq, result } } });
}

type Result = NonNullable<Job['resolveChildWorkflowExecution']>['result'];

function resultOf(closing: Closing, failure: (cause: Error) => Failure): [EventType, Result] {
  switch (closing.how) {
    case 'Completed': {
      const [result] = payloadsOf([closing.result]);
      return ['ChildWorkflowExecutionCompleted', { completed: result ? { result } : {} }];
    }
    case 'Failed':
      return ['ChildWorkflowExecutionFailed', { failed: { failure: failure(errorOf(closing.failure)) } }];
    case 'Canceled': {
      const cause = new CancelledFailure('canceled');
      return ['ChildWorkflowExecutionCanceled', { cancelled: { failure: failure(cause) } }];
    }
    case 'Terminated':
    case 'ContinuedAsNew': {
      const cause = new TerminatedFailure('terminated');
      return ['ChildWorkflowExecutionTerminated', { failed: { failure: failure(cause) } }];
    }
  }
}
