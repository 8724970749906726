// What the server does for each command of a workflow task.
import { cancelChild, startChild } from './children';
import { failureOf, millisecondsOf, textOf, valueOf, type Command } from './payloads';
import type { Effects, Run } from './run';

/** Carries out all commands of one task, in their order. */
export function carryOut(server: Effects, run: Run, commands: readonly Command[]): void {
  for (const command of commands) {
    if (!run.isOpen) return;
    const one = EFFECTS.find(([name]) => command[name]);
    if (!one) throw new Error(`the simulated server does not know the command ${textOf(command)}`);
    one[1](server, run, command as Required<Command>);
  }
}

type Effect = (server: Effects, run: Run, command: Required<Command>) => void;

const EFFECTS: readonly (readonly [keyof Command, Effect])[] = [
  ['updateResponse', (_, run, { updateResponse }) => answerUpdate(run, updateResponse)],
  ['scheduleActivity', (_, run, { scheduleActivity }) => scheduleActivity && run.schedule(scheduleActivity)],
  [
    'requestCancelActivity',
    (_, run, { requestCancelActivity }) => cancelActivity(run, requestCancelActivity?.seq),
  ],
  ['startTimer', (_, run, { startTimer }) => startTimer && beginTimer(run, startTimer)],
  ['cancelTimer', (_, run, { cancelTimer }) => endTimer(run, cancelTimer?.seq ?? 0)],
  ['startChildWorkflowExecution', (server, run, command) => startChild(server, run, command)],
  ['cancelChildWorkflowExecution', (server, run, command) => cancelChild(server, run, command)],
  ['signalExternalWorkflowExecution', (server, run, command) => signalOther(server, run, command)],
  ['requestCancelExternalWorkflowExecution', (server, run, command) => cancelOther(server, run, command)],
  ['setPatchMarker', (_, run) => markPatch(run)],
  ['upsertWorkflowSearchAttributes', (_, run, command) => upsert(run, command)],
  ['modifyWorkflowProperties', (_, run) => run.record('WorkflowPropertiesModified')],
  [
    'completeWorkflowExecution',
    (server, run, { completeWorkflowExecution: end }) =>
      server.close(run, { how: 'Completed', result: valueOf(end?.result) }),
  ],
  [
    'failWorkflowExecution',
    (server, run, { failWorkflowExecution: end }) =>
      server.close(run, { how: 'Failed', failure: end?.failure ?? failureOf(new Error('failed')) }),
  ],
  ['cancelWorkflowExecution', (server, run) => server.close(run, { how: 'Canceled' })],
  ['continueAsNewWorkflowExecution', (server, run, command) => continueAsNew(server, run, command)],
];

function answerUpdate(run: Run, response: Command['updateResponse']): void {
  const update = run.updates.get(response?.protocolInstanceId ?? '');
  if (!update || !response || update.state === 'over') return;
  const { accepted, rejected, completed } = response;
  if (accepted) {
    update.state = 'accepted';
    run.record('WorkflowExecutionUpdateAccepted');
  } else if (rejected) {
    const wasAccepted = update.state === 'accepted';
    if (wasAccepted) run.record('WorkflowExecutionUpdateCompleted');
    // One that was not accepted was never there: the same id may be sent again.
    else run.updates.delete(update.request.id);
    update.end({ is: 'failed', failure: rejected, wasAccepted });
  } else {
    run.record('WorkflowExecutionUpdateCompleted');
    update.end({ is: 'completed', result: valueOf(completed) });
  }
}

function cancelActivity(run: Run, seq: number | null | undefined): void {
  run.record('ActivityTaskCancelRequested');
  run.activities.get(seq ?? 0)?.cancel();
}

function beginTimer(run: Run, { seq, startToFireTimeout }: NonNullable<Command['startTimer']>): void {
  run.record('TimerStarted');
  const fire = (): void => {
    run.timers.delete(seq ?? 0);
    run.happen('TimerFired', { job: { fireTimer: { seq: seq ?? 0 } } }, seq ?? 0);
  };
  const label = `timer ${seq} of ${run.workflowId} fires`;
  run.timers.set(seq ?? 0, run.home.agenda.after(millisecondsOf(startToFireTimeout) ?? 0, label, fire));
}

function endTimer(run: Run, seq: number): void {
  run.record('TimerCanceled');
  run.timers.get(seq)?.();
  run.timers.delete(seq);
  run.forgetTimer(seq);
}

function signalOther(server: Effects, run: Run, command: Required<Command>): void {
  const signal = command.signalExternalWorkflowExecution;
  if (!signal) return;
  const { seq, signalName, args, workflowExecution, childWorkflowId, headers } = signal;
  const to = childWorkflowId ?? workflowExecution?.workflowId ?? '';
  run.record('SignalExternalWorkflowExecutionInitiated');
  run.home.agenda.add(`signal ${signalName} from ${run.workflowId} to ${to}`, () => {
    const isTaken = server.signalRaw(to, { signalName, input: args ?? [], headers: headers ?? {} });
    if (isTaken) {
      run.happen('ExternalWorkflowExecutionSignaled', { job: { resolveSignalExternalWorkflow: { seq } } });
      return;
    }
    const failure = failureOf(new Error(`there is no workflow ${to}`));
    run.happen('SignalExternalWorkflowExecutionFailed', {
      job: { resolveSignalExternalWorkflow: { seq, failure } },
    });
  });
}

function cancelOther(server: Effects, run: Run, command: Required<Command>): void {
  const { seq, workflowExecution } = command.requestCancelExternalWorkflowExecution ?? {};
  const to = workflowExecution?.workflowId ?? '';
  run.record('RequestCancelExternalWorkflowExecutionInitiated');
  run.home.agenda.add(`cancellation of ${to} from ${run.workflowId}`, () => {
    const isTaken = server.cancel(to);
    const failure = isTaken ? {} : { failure: failureOf(new Error(`there is no workflow ${to}`)) };
    run.happen(
      isTaken ? 'ExternalWorkflowExecutionCancelRequested' : 'RequestCancelExternalWorkflowExecutionFailed',
      { job: { resolveRequestCancelExternalWorkflow: { seq, ...failure } } },
    );
  });
}

/** The server lists runs by their patches, too. */
function markPatch(run: Run): void {
  run.record('MarkerRecorded');
  run.record('UpsertWorkflowSearchAttributes');
}

function upsert(run: Run, { upsertWorkflowSearchAttributes }: Required<Command>): void {
  run.record('UpsertWorkflowSearchAttributes');
  Object.assign(run.attributes, upsertWorkflowSearchAttributes?.searchAttributes?.indexedFields);
}

function continueAsNew(server: Effects, run: Run, command: Required<Command>): void {
  server.continueAsNew(run, command.continueAsNewWorkflowExecution?.arguments ?? []);
}
