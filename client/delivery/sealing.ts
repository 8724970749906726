// Seals a client's messages if plaintext is refused: the workflow accepts each message once, only as what it was sent.
import { randomBytes } from 'node:crypto';
import type { Client, WorkflowClientInterceptor } from '@temporalio/client';
import type { DataConverter, PayloadCodec } from '@temporalio/common';
import { inEnvelope, startName, type Seal } from '../../contracts/seals';

interface SealingCodec extends PayloadCodec {
  sealsFor(workflowId: string): boolean;
}

/** For Temporal's client, next to the encrypting data converter. */
export function sealing(dataConverter: DataConverter | undefined): WorkflowClientInterceptor[] {
  const codec = dataConverter?.payloadCodecs?.find(seals);
  return codec ? [new SealedClient(codec)] : [];
}

/** Whether clients with this data converter seal what they send to the workflow. */
export const sealsWith = (dataConverter: DataConverter | undefined, workflowId: string): boolean =>
  dataConverter?.payloadCodecs?.find(seals)?.sealsFor(workflowId) ?? false;

/** Whether this client may refuse plaintext at all. */
export const canSeal = ({ options }: Client): boolean =>
  options.loadedDataConverter.payloadCodecs.some(seals);

/** Whether this client refuses what is not encrypted in the workflow. */
export const requiresSeals = ({ options }: Client, workflowId: string): boolean =>
  options.loadedDataConverter.payloadCodecs.some((codec) => seals(codec) && codec.sealsFor(workflowId));

const seals = (codec: PayloadCodec): codec is SealingCodec => 'sealsFor' in codec;

class SealedClient implements WorkflowClientInterceptor {
  private readonly sender = randomBytes(9).toString('base64url');
  private sent = 0;

  constructor(private readonly codec: SealingCodec) {}

  startWithDetails: NonNullable<WorkflowClientInterceptor['startWithDetails']> = (input, next) =>
    next({ ...input, options: this.started(input.workflowType, input.options) });

  signal: NonNullable<WorkflowClientInterceptor['signal']> = (input, next) => {
    const { workflowExecution, signalName } = input;
    return next({ ...input, args: this.sealed(workflowExecution.workflowId, signalName, input.args) });
  };

  signalWithStart: NonNullable<WorkflowClientInterceptor['signalWithStart']> = (input, next) => {
    const { options, workflowType, signalName } = input;
    const signalArgs = this.sealed(options.workflowId, signalName, input.signalArgs);
    return next({ ...input, options: this.started(workflowType, options), signalArgs });
  };

  startUpdate: NonNullable<WorkflowClientInterceptor['startUpdate']> = (input, next) => {
    const { workflowExecution, updateName } = input;
    return next({ ...input, args: this.sealed(workflowExecution.workflowId, updateName, input.args) });
  };

  startUpdateWithStart: NonNullable<WorkflowClientInterceptor['startUpdateWithStart']> = (input, next) => {
    const { workflowStartOptions, workflowType, updateName } = input;
    const updateArgs = this.sealed(workflowStartOptions.workflowId, updateName, input.updateArgs);
    return next({
      ...input,
      workflowStartOptions: this.started(workflowType, workflowStartOptions),
      updateArgs,
    });
  };

  private started<T extends { workflowId: string; args: unknown[] }>(workflowType: string, options: T): T {
    const { workflowId, args } = options;
    return { ...options, args: this.sealed(workflowId, startName(workflowType), args) };
  }

  private sealed(workflowId: string | null | undefined, message: string, args: unknown[]): unknown[] {
    if (!workflowId || !this.codec.sealsFor(workflowId)) return args;
    const seal: Seal = { message, id: `${this.sender}/${++this.sent}`, at: Date.now() };
    return inEnvelope(args, seal);
  }
}
