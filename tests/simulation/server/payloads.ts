// Values and errors as they stand in histories, made and read by Temporal's own converters.
import { defaultFailureConverter, defaultPayloadConverter, type Payload } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time';
import type { Workflow } from '@temporalio/worker/lib/workflow/interface';

export type Activation = Parameters<Workflow['activate']>[0];
export type Job = NonNullable<Activation['jobs']>[number];
export type Completion = Awaited<ReturnType<Workflow['activate']>>;
type Commands = NonNullable<NonNullable<Completion['successful']>['commands']>;
export type Command = Commands[number];
export type Headers = NonNullable<NonNullable<Job['initializeWorkflow']>['headers']>;
export type Failure = ReturnType<typeof defaultFailureConverter.errorToFailure>;

export const payloadsOf = (args: readonly unknown[]): Payload[] =>
  args.map((value) => defaultPayloadConverter.toPayload(value));

export const valueOf = <T>(payload: Payload | null | undefined): T =>
  (payload ? defaultPayloadConverter.fromPayload(payload) : undefined) as T;

export const valuesOf = (payloads: readonly Payload[] | null | undefined): unknown[] =>
  (payloads ?? []).map((payload) => valueOf(payload));

export const failureOf = (err: unknown): Failure =>
  defaultFailureConverter.errorToFailure(err, defaultPayloadConverter);

export const errorOf = (failure: Failure): Error =>
  defaultFailureConverter.failureToError(failure, defaultPayloadConverter);

export const timestampOf = (ms: number): NonNullable<Activation['timestamp']> => msToTs(ms);

/** A number as the protocol writes large ones. */
export const longOf = (value: number): NonNullable<Activation['historySizeBytes']> =>
  msToTs(value * 1_000).seconds as NonNullable<Activation['historySizeBytes']>;

/** A duration of the protocol in milliseconds; undefined if there is none. */
export const millisecondsOf = (
  duration: { seconds?: { toNumber(): number } | null; nanos?: number | null } | null | undefined,
): number | undefined => {
  const ms = (duration?.seconds?.toNumber() ?? 0) * 1_000 + (duration?.nanos ?? 0) / 1e6;
  return ms > 0 ? ms : undefined;
};

/** What two commands must have in common to be the same: all of it. */
export const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    ArrayBuffer.isView(part) ? Buffer.from(part as Uint8Array).toString('utf8') : part,
  );
