// Accepts only messages sealed for this workflow, once a message has demanded that. The deciding data is in history, so
// that a worker with any configuration can replay it. Only in the bundle for encrypted payloads.
import {
  workflowInfo,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
  type WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';
import { WORKFLOWS } from '../../contracts/messages';
import {
  inEnvelope,
  newSealRecord,
  openEnvelope,
  rememberSeal,
  sealFault,
  startName,
  type Seal,
  type SealRecord,
} from '../../contracts/seals';
import { messageGuard } from './message-guard';
import { refuse } from './refusal';

/**
 * Anyone can start these without data, before we do. An agent that a user's own workflow started, unsealed, keeps
 * accepting its messages, and so do its turns.
 */
const LATCHED_BY_MESSAGES: readonly string[] = [WORKFLOWS.execSession, WORKFLOWS.host];

class SealedMessages implements WorkflowInboundCallsInterceptor, WorkflowOutboundCallsInterceptor {
  private record: SealRecord = newSealRecord(0);
  private sent = 0;

  execute: NonNullable<WorkflowInboundCallsInterceptor['execute']> = (input, next) => {
    const { startTime, workflowType, continuedFromExecutionRunId } = workflowInfo();
    const { args, seal } = openEnvelope(input.args);
    if (continuedFromExecutionRunId !== undefined && isRecord(seal)) {
      this.record = seal;
      messageGuard().demandsSeals = seal.only;
    } else {
      this.record = newSealRecord(startTime.getTime());
      // A record that one run left for the next cannot start another workflow.
      if (isRecord(seal)) refuse('message_unsealed', { got: 'what another run left', allowed: 'a start' });
      this.take(startName(workflowType), seal, true);
    }
    return next({ ...input, args });
  };

  // None of these awaits anything: a later turn of the event loop would change the order of commands in history.
  handleSignal: NonNullable<WorkflowInboundCallsInterceptor['handleSignal']> = (input, next) => {
    const { args, seal } = openEnvelope(input.args);
    try {
      this.take(input.signalName, seal);
    } catch (err) {
      messageGuard().refused(err);
      return Promise.resolve();
    }
    return next({ ...input, args });
  };

  validateUpdate: NonNullable<WorkflowInboundCallsInterceptor['validateUpdate']> = (input, next) => {
    const { args, seal } = openEnvelope(input.args);
    this.check(input.name, seal);
    next({ ...input, args });
  };

  // Checked again: the same message may have been accepted since the validator ran.
  handleUpdate: NonNullable<WorkflowInboundCallsInterceptor['handleUpdate']> = (input, next) => {
    const { args, seal } = openEnvelope(input.args);
    try {
      this.take(input.name, seal);
    } catch (err) {
      return Promise.reject(err instanceof Error ? err : new Error(String(err)));
    }
    return next({ ...input, args });
  };

  signalWorkflow: NonNullable<WorkflowOutboundCallsInterceptor['signalWorkflow']> = (input, next) => {
    const { signalName, args } = input;
    // A workflow that accepts plaintext must not seal: no approval elsewhere may come through it.
    if (!this.record.only) return next(input);
    return next({ ...input, args: inEnvelope(args, this.seal(signalName)) });
  };

  startChildWorkflowExecution: NonNullable<WorkflowOutboundCallsInterceptor['startChildWorkflowExecution']> =
    (input, next) => {
      if (!this.record.only) return next(input);
      const { workflowType, options } = input;
      const args = inEnvelope(options.args, this.seal(startName(workflowType)));
      return next({ ...input, options: { ...options, args } });
    };

  continueAsNew: NonNullable<WorkflowOutboundCallsInterceptor['continueAsNew']> = (input, next) =>
    next({ ...input, args: inEnvelope(input.args, this.record) });

  private seal(message: string): Seal {
    return {
      message,
      id: `${workflowInfo().runId}/${++this.sent}`,
      at: Date.now(),
      ...(this.record.only && { only: true }),
    };
  }

  private take(
    name: string,
    seal: unknown,
    latches = LATCHED_BY_MESSAGES.includes(workflowInfo().workflowType),
  ): void {
    this.check(name, seal);
    rememberSeal(this.record, seal, latches);
    messageGuard().demandsSeals = this.record.only;
  }

  private check(name: string, seal: unknown): void {
    const fault = sealFault(this.record, name, seal, Date.now());
    if (fault) refuse('message_unsealed', fault);
  }
}

const isRecord = (value: unknown): value is SealRecord =>
  typeof value === 'object' && value !== null && 'seen' in value;

/** For Temporal's bundler. */
export const interceptors = (): WorkflowInterceptors => {
  const guard = new SealedMessages();
  return { inbound: [guard], outbound: [guard] };
};
